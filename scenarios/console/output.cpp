#include "scenarios/console/output.h"

#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <ostream>
#include <unistd.h>

#include "scenarios/text/file_error.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

void refuse_dash(std::string_view option, const std::string& path) {
    if (path == "-") {
        throw sim::InputError("only --json writes to standard output",
                              fmt::format("give {} the path of a file", option),
                              {fmt::format("{} -", option), 0, 0});
    }
}

std::string output_path(const Usage& options, const std::string& name) {
    if (!options.has(name)) {
        return {};
    }
    const std::string path = options.get(name);
    if (path == "-") {
        return path;
    }
    const std::filesystem::path file(path);
    std::error_code unknown;
    const auto error_of_access = [](const std::string& what, int how) {
        return ::access(what.c_str(), how) == 0 ? 0 : errno;
    };
    const int reason =
        std::filesystem::is_directory(file, unknown) ? EISDIR
        : std::filesystem::exists(file, unknown)
            ? error_of_access(path, W_OK)
            : error_of_access(file.has_parent_path() ? file.parent_path() : ".", W_OK | X_OK);
    if (reason != 0) {
        throw cannot_write(fmt::format("--{}", name), path, reason);
    }
    return path;
}

void write_file(std::string_view option, const std::string& path, const std::string& text) {
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    if (!file) {
        throw cannot_write(option, path, errno);
    }
    file << text;
    file.close();
    if (!file) {
        throw cannot_write(option, path, errno);
    }
}

void write_json(const Json& json, const std::string& path, std::ostream& out) {
    const std::string text = json_text(json, 2) + '\n';
    if (path == "-") {
        out << text;
    } else {
        write_file("--json", path, text);
    }
}

}  // namespace podsim::scenarios
