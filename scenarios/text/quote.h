// User input inside messages: without control characters, of bounded length, in one line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace podsim::scenarios {

/// Bytes of the first character of a text where it is one that nobody sees and that may command a terminal: a control character (C0, C1), or
/// one that turns the direction of writing; else 0.
std::size_t hidden_character(std::string_view text);
bool has_hidden_character(std::string_view text);

/// The text with such characters as `\x1b`, cut after 60 bytes (never inside a UTF-8 character) with `...`.
std::string printable(std::string_view text);
/// `printable` between single quotes.
std::string in_quotes(std::string_view text);

/// A message in one line: every control character, the line's end among them, becomes a blank.
std::string one_line(std::string_view message);

/// Of ASCII letters.
std::string lower_case(std::string text);

}  // namespace podsim::scenarios
