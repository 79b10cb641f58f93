// Declarations that the commands of `podsim` share.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/manual.h"
#include "scenarios/src/cli/usage.h"

namespace podsim::scenarios {

/// One command. `run` takes the arguments after its name and returns the exit status; `usage`
/// returns its options.
struct Command {
    std::string_view name;
    std::string_view summary;
    int (*run)(Arguments args, std::ostream& out, std::ostream& err);
    Usage (*usage)();
};

std::span<const Command> all_commands();
/// Returns all commands with their options, for manuals and completions.
Manual manual();

/// Prints one line per warning: `podsim: warning: ...`. `of` names the input, if there are several.
void print_warnings(std::ostream& err, std::span<const std::string> warnings,
                    std::string_view of = {});

}  // namespace podsim::scenarios
