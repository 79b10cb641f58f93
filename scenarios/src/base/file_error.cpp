#include "scenarios/src/base/file_error.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>

#include "scenarios/src/base/quote.h"

namespace podsim::scenarios {

sim::InputError cannot_write(std::string_view option, const std::string& path, int reason) {
    return sim::InputError(fmt::format("cannot write {}: {}", in_quotes(path),
                                       reason == 0 ? "unknown reason" : std::strerror(reason)),
                           fmt::format("give {} a path that can be written", option));
}

void check_readable(const std::filesystem::path& path, const std::string& remedy) {
    std::error_code unknown;
    if (std::filesystem::is_fifo(path, unknown)) {
        return;  // opening a pipe would lose its contents
    }
    errno = 0;
    if (std::filesystem::is_directory(path, unknown) || !std::ifstream(path)) {
        const int reason = errno;
        throw sim::InputError(
            fmt::format("cannot read {}: {}", in_quotes(path.string()),
                        reason == 0 ? "it is a directory" : std::strerror(reason)),
            remedy);
    }
}

}  // namespace podsim::scenarios
