#include "scenarios/src/cli/output.h"

#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <ostream>
#include <unistd.h>

#include "scenarios/src/base/file_error.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/base/whole_file.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

void refuse_dash(std::string_view option, const std::string& path) {
    if (path == "-") {
        throw sim::InputError("only --json writes to standard output",
                              fmt::format("give {} the path of a file", option),
                              {fmt::format("{} -", option), 0, 0});
    }
}

namespace {

/// True if writing both paths loses one output. Devices, such as /dev/null, lose nothing.
bool same_file(const std::string& one, const std::string& other) {
    std::error_code unknown;
    if (std::filesystem::exists(one, unknown) && std::filesystem::exists(other, unknown)) {
        return std::filesystem::is_regular_file(one, unknown) &&
               std::filesystem::equivalent(one, other, unknown);
    }
    const auto place = [&](const std::string& path) {
        return std::filesystem::weakly_canonical(
            std::filesystem::absolute(behind_links(path), unknown), unknown);
    };
    return place(one) == place(other);
}

/// True if the file is a scenario written by people. A plan of a search and an import are not:
/// podsim writes them anew. The scenario of podsim init is: it is meant to be edited.
bool is_scenario_of_people(const std::string& path) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(path, unknown)) {
        return false;
    }
    constexpr std::size_t kMostRead = std::size_t{1} << 20U;  // of a file that is no scenario
    std::ifstream file(path);
    std::string line;
    for (std::size_t read = 0; read < kMostRead && std::getline(file, line); read += line.size()) {
        const bool of_podsim =
            line == "# used:" ||
            (line.starts_with("# Number ") && line.find(" of podsim search: ") < line.size());
        if (read == 0 && of_podsim) {
            return false;
        }
        if (line.starts_with("hardware:")) {
            return true;
        }
    }
    return false;
}

[[noreturn]] void refuse(const NamedOutput& output, const std::string& what,
                         const std::string& remedy = "give it another path") {
    throw sim::InputError(what, remedy,
                          {fmt::format("--{} {}", output.option, printable(output.path)), 0, 0});
}

}  // namespace

std::vector<NamedOutput> outputs_of(const Usage& options) {
    std::vector<NamedOutput> outputs;
    for (const char* const option :
         {"json", "jsonl", "csv", "trace", "report", "graphviz", "write"}) {
        if (options.has(option) && options.get(option) != "-") {
            outputs.push_back({option, options.get(option)});
        }
    }
    return outputs;
}

void refuse_lost_input(const NamedOutput& output, const std::string& input) {
    if (same_file(output.path, input == "-" ? "/dev/stdin" : input)) {
        refuse(output, "the command reads this file, and would overwrite it");
    }
}

void refuse_lost_files(const Usage& options, const std::string& name, const std::string& path) {
    const NamedOutput output{name, path};
    for (const std::string& input : options.positionals()) {
        refuse_lost_input(output, input);
    }
    for (const NamedOutput& other : outputs_of(options)) {
        if (other.option != name && same_file(path, other.path)) {
            refuse(output, fmt::format("--{} names the same file", other.option));
        }
    }
    if (is_scenario_of_people(path)) {
        refuse(output, "a scenario stands there, which would be lost",
               "give it another path, or remove that file first");
    }
}

std::string output_path(const Usage& options, const std::string& name) {
    if (!options.has(name)) {
        return {};
    }
    std::string path = options.get(name);
    if (path == "-") {
        return path;
    }
    const std::filesystem::path file(path);
    std::error_code unknown;
    const auto error_of_access = [](const std::string& what, int how) {
        return ::access(what.c_str(), how) == 0 ? 0 : errno;
    };
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
    const int reason = std::filesystem::is_directory(file, unknown) ? EISDIR
                       : std::filesystem::exists(file, unknown)
                           ? error_of_access(path, W_OK)
                           : error_of_access(folder / ".", W_OK | X_OK);  // fails for a file
    if (reason != 0) {
        throw cannot_write(fmt::format("--{}", name), path, reason);
    }
    refuse_lost_files(options, name, path);
    return path;
}

void write_file(std::string_view option, const std::string& path, const std::string& text) {
    WholeFile file(option, path);
    file.stream() << text;
    file.keep();
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
