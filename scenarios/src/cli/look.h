// How reports look on a terminal: their width and their colours.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace podsim::scenarios {

/// An environment variable that podsim reads, and its effect.
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

/// Returns the look for a stream. Colours appear only on a terminal, and not if NO_COLOR is set
/// (no-color.org) or TERM is `dumb`. The width is that of COLUMNS, else that of the terminal, else
/// unlimited.
Look look_of(const std::ostream& out);

/// Returns the report as shown. Lines of words wider than the terminal are wrapped and indented by
/// two more; tables (two blanks between words) and text to be copied (`--set ...`) stay whole. In
/// colour, the first line and the first of each section stand out up to their first two blanks. So
/// does the verdict on a step that does not fit.
std::string shown(const std::string& report, const Look& look);

/// True if the stream is standard error, on a terminal.
bool on_terminal(const std::ostream& err);

}  // namespace podsim::scenarios
