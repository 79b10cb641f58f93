// User input inside messages: without control characters, of bounded length, on one line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace podsim::scenarios {

/// Returns the length in bytes of the well-formed UTF-8 character with which a non-empty text
/// begins; 0 if there is none.
std::size_t character_length(std::string_view text);

/// Returns the length in bytes of the first character of a text if it is invisible or a terminal
/// may take it for a command: a control character (C0, C1), a change of the writing direction, a
/// byte that is not UTF-8. Returns 0 for other characters.
std::size_t hidden_character(std::string_view text);
bool has_hidden_character(std::string_view text);

/// Returns the text with hidden characters as `\x1b`.
std::string escaped(std::string_view text);
/// Returns the escaped text, cut after 60 bytes (never inside a UTF-8 character) with `...`.
std::string printable(std::string_view text);
/// Returns `printable` between single quotes.
std::string in_quotes(std::string_view text);

/// Returns a message on one line: control characters, line ends among them, become blanks; other
/// hidden characters are escaped.
std::string one_line(std::string_view message);

/// Returns the text with ASCII letters in lower case.
std::string lower_case(std::string text);

}  // namespace podsim::scenarios
