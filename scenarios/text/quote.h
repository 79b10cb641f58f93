// User input inside messages: without control characters, of bounded length, in one line.
#pragma once

#include <string>
#include <string_view>

namespace podsim::scenarios {

/// The text with control characters as `\x1b`, cut after 60 bytes (never inside a UTF-8 character) with `...`.
std::string printable(std::string_view text);
/// `printable` between single quotes.
std::string in_quotes(std::string_view text);

/// A message in one line: every control character, the line's end among them, becomes a blank.
std::string one_line(std::string_view message);

}  // namespace podsim::scenarios
