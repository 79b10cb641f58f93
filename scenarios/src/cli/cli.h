// The `podsim` command, callable in-process.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/src/cli/exit_status.h"

namespace podsim::scenarios {

/// Returns the first 12 digits of the commit, with `-dirty` if tracked files were changed; empty if
/// the sources lay in no repository. Defined in a file that cmake/commit.cmake writes with every
/// build.
std::string_view commit();

/// Runs one command. `args` are the arguments after the program's name. Results go to `out`,
/// messages to `err`. Returns the exit status; never throws for bad input.
int run_command(std::span<const std::string> args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
