// The `podsim` command, callable in-process.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace podsim::scenarios {

/// Exit statuses.
inline constexpr int kDone = 0;
inline constexpr int kExpectationFails = 1;  ///< a stated expectation does not hold
inline constexpr int kBadInput = 2;          ///< bad usage or bad input: one message on `err`
inline constexpr int kDefect = 3;            ///< a defect in podsim itself
inline constexpr int kInterrupted = 130;     ///< by Ctrl-C, as shells report its signal

/// Runs one command. `args` are the arguments after the program's name. Results go to `out`,
/// messages to `err`. Returns the exit status; never throws for bad input.
int run_command(std::span<const std::string> args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
