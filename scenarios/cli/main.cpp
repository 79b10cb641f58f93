#include <iostream>
#include <string>
#include <vector>

#include "scenarios/cli/cli.h"
#include "scenarios/console/stop_request.h"
#include "scenarios/watch/memory_limit.h"

/// jemalloc, where it is linked, takes memory in large pages: page faults are a third of the time of a short command.
// It is jemalloc's, by this name and type.
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
