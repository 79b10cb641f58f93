// Exit statuses of the command.
#pragma once

#include <string_view>

namespace podsim::scenarios {

inline constexpr int kDone = 0;
inline constexpr int kExpectationFails = 1;  ///< a stated expectation does not hold
inline constexpr int kBadInput = 2;          ///< bad usage or bad input: one message on `err`
inline constexpr int kDefect = 3;            ///< a defect in podsim itself
inline constexpr int kDoesNotFit = 4;     ///< a step does not fit in memory, with --fail-if-not-fit
inline constexpr int kInterrupted = 130;  ///< stopped by SIGINT (Ctrl-C), as shells report it
inline constexpr int kTerminated = 143;   ///< stopped by SIGTERM, as shells report it, or by SIGHUP

struct ExitStatus {
    int status;
    std::string_view meaning;
};
/// All statuses with their meanings, for helps and manuals.
inline constexpr ExitStatus kExitStatuses[] = {
    {kDone, "done"},
    {kExpectationFails, "a stated expectation does not hold"},
    {kBadInput, "bad usage or bad input"},
    {kDefect, "a defect in podsim"},
    {kDoesNotFit, "does not fit (--fail-if-not-fit)"},
    {kInterrupted, "stopped by SIGINT (Ctrl-C)"},
    {kTerminated, "stopped by SIGTERM or SIGHUP"},
};

}  // namespace podsim::scenarios
