#include <iostream>
#include <malloc.h>
#include <string>
#include <vector>

#include "scenarios/cli.h"

namespace {

/// Runs take and give back tens of megabytes many times over. Memory that goes back to the system every time
/// comes again page by page, at a fault each.
void keep_freed_memory() {
    constexpr int kKeep = 64 << 20;        // at the end of the heap
    constexpr int kMappedAlone = 8 << 20;  // a larger block is given back when it is freed
    mallopt(M_TRIM_THRESHOLD, kKeep);
    mallopt(M_MMAP_THRESHOLD, kMappedAlone);
}

}  // namespace

int main(int argc, char** argv) {
    keep_freed_memory();
    const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
    return podsim::scenarios::run_command(args, std::cout, std::cerr);
}
