// User input inside messages: without control characters, of bounded length, in one line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace podsim::scenarios {

/// Length in bytes of the well-formed UTF-8 character that a text, which is not empty, begins with; 0 if it begins with none.
std::size_t character_length(std::string_view text);

/// Length in bytes of the first character of a text if nobody can see it or a terminal may take it for a command: a control character (C0, C1),
/// a turn of the direction of writing, a byte that is not UTF-8; else 0.
std::size_t hidden_character(std::string_view text);
bool has_hidden_character(std::string_view text);

/// The text with such characters as `\x1b`.
std::string escaped(std::string_view text);
/// The text with such characters as `\x1b`, cut after 60 bytes (never inside a UTF-8 character) with `...`.
std::string printable(std::string_view text);
/// `printable` between single quotes.
std::string in_quotes(std::string_view text);

/// A message in one line: every control character, the line's end among them, becomes a blank; other hidden characters are escaped.
std::string one_line(std::string_view message);

/// Of ASCII letters.
std::string lower_case(std::string text);

}  // namespace podsim::scenarios
