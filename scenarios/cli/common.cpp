#include "scenarios/cli/common.h"

#include <iostream>
#include <unistd.h>

namespace podsim::scenarios {

bool on_terminal(const std::ostream& err) {
    return &err == &std::cerr && ::isatty(STDERR_FILENO) == 1;
}

}  // namespace podsim::scenarios
