// How reports are shown to people: as wide as their terminal, and in its colours.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace podsim::scenarios {

/// What of the environment is looked at, and what it does.
struct EnvironmentVariable {
    const char* name;
    std::string_view meaning;
};
inline constexpr EnvironmentVariable kColumnsVariable = {
    "COLUMNS", "how wide reports and helps are made; without it as the terminal is"};
inline constexpr EnvironmentVariable kNoColourVariable = {
    "NO_COLOR", "no colours on a terminal, whatever it says (no-color.org)"};
inline constexpr EnvironmentVariable kTerminalVariable = {"TERM",
                                                          "`dumb`: no colours on that terminal"};
inline constexpr EnvironmentVariable kVariables[] = {kColumnsVariable, kNoColourVariable,
                                                     kTerminalVariable};

struct Look {
    int width = 0;  ///< columns; 0: no limit
    bool colour = false;
};

/// Of a stream: colours only on a terminal, and not where NO_COLOR is set (no-color.org) or TERM is `dumb`; as wide as COLUMNS says, else
/// as the terminal is, else without a limit.
Look look_of(const std::ostream& out);

/// A report as it is to be shown. Lines of words that are wider than the terminal go on below, indented by two more; tables (two
/// blanks between words) and what is to be copied (`--set ...`) stay whole. In colour the first line and the first of each section stand
/// out (up to the first two blanks), and so does what does not fit.
std::string shown(const std::string& report, const Look& look);

/// Whether the stream is standard error, on a terminal.
bool on_terminal(const std::ostream& err);

}  // namespace podsim::scenarios
