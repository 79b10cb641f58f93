// The `podsim` command, callable in-process.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "scenarios/console/exit_status.h"

namespace podsim::scenarios {

/// Runs one command. `args` are the arguments after the program's name. Results go to `out`,
/// messages to `err`. Returns the exit status; never throws for bad input.
int run_command(std::span<const std::string> args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
