#include <iostream>
#include <string>
#include <vector>

#include "scenarios/src/base/memory_limit.h"
#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/stop_request.h"

/// Makes jemalloc, if linked, use large pages: page faults take a third of the time of a short
/// command. Name and type are jemalloc's.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
extern "C" [[gnu::visibility("default")]] const char* malloc_conf;
const char* malloc_conf = "thp:always";
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

int main(int argc, char** argv) {
    const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
    const podsim::scenarios::StopSignals signals;
    if (!args.empty() && args.front().starts_with('-')) {  // such as --version: nothing large
        return podsim::scenarios::run_command(args, std::cout, std::cerr);
    }
    const podsim::scenarios::MemoryLimit limit(podsim::scenarios::usual_memory_limit());
    return podsim::scenarios::run_command(args, std::cout, std::cerr);
}
