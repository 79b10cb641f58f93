#include <iostream>
#include <oneapi/tbb/global_control.h>
#include <string>
#include <vector>

#include "scenarios/cli/cli.h"
#include "scenarios/console/stop_request.h"
#include "scenarios/watch/memory_limit.h"

/// jemalloc, where it is linked, gives memory back that it does not use: kept, it counts for the limit.
// It is jemalloc's, by this name and type.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
extern "C" [[gnu::visibility("default")]] const char* malloc_conf;
const char* malloc_conf = "retain:false";
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

int main(int argc, char** argv) {
    const podsim::scenarios::StopSignals signals;
    const podsim::scenarios::MemoryLimit limit(podsim::scenarios::usual_memory_limit());
    // Threads have stacks and memory of their own.
    constexpr double kForThreads = 1e9;
    if (podsim::scenarios::address_space_left() < kForThreads) {
        // For good: at its end others would begin, for which there is no room.
        static_cast<void>(new tbb::global_control(tbb::global_control::max_allowed_parallelism, 1));
    }
    const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
    return podsim::scenarios::run_command(args, std::cout, std::cerr);
}
