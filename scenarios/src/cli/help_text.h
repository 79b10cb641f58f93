// Layout of helps and manuals to the width of a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podsim::scenarios {

/// Columns of a help if no width is given.
inline constexpr int kHelpWidth = 80;

struct Paragraph {
    /// Words in one line; for a table its lines, without the last line's end.
    std::string text;
    bool is_table = false;
    bool after_blank = false;  ///< true if an empty line precedes it
};

/// Splits a text into paragraphs. Lines that begin with a blank, or have two blanks between words,
/// are table rows; all others are words that may be wrapped again.
std::vector<Paragraph> paragraphs_of(std::string_view text);

/// Splits a command line into its unbreakable parts: words, and text in brackets.
std::vector<std::string> synopsis_parts(std::string_view synopsis);

/// Joins parts with blanks and wraps them; all lines but the first are indented.
std::string filled(const std::vector<std::string>& parts, int width, int indent);

/// Returns the text with its paragraphs filled, including the last line's end. A table stays as it
/// is if it fits; otherwise the last field of each row goes below the others.
std::string filled_text(std::string_view text, int width);

}  // namespace podsim::scenarios
