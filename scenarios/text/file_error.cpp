#include "scenarios/text/file_error.h"

#include <cstring>
#include <fmt/format.h>

#include "scenarios/text/quote.h"

namespace podsim::scenarios {

sim::InputError cannot_write(std::string_view option, const std::string& path, int reason) {
    return sim::InputError(fmt::format("cannot write {}: {}", in_quotes(path),
                                       reason == 0 ? "unknown reason" : std::strerror(reason)),
                           fmt::format("give {} a path that can be written", option));
}

}  // namespace podsim::scenarios
