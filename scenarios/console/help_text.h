// The words of helps and manuals, as wide as there is room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podsim::scenarios {

/// Columns of a help that nobody says the width of.
inline constexpr int kHelpWidth = 80;

struct Paragraph {
    std::string text;  ///< words of one line; of a table its lines, without the last one's end
    bool is_table = false;
    bool after_blank = false;  ///< whether an empty line stands before it
};

/// Lines that begin with a blank, or have two between words, make tables; others are words that may be broken anew.
std::vector<Paragraph> paragraphs_of(std::string_view text);

/// A command line in the parts that stay whole: words, and what stands in brackets.
std::vector<std::string> synopsis_parts(std::string_view synopsis);

/// Parts one after the other, a blank between them, the second line and further ones indented.
std::string filled(const std::vector<std::string>& parts, int width, int indent);

/// A text whose paragraphs are filled, with its last line's end. Tables are as they were where there is room, otherwise the last
/// field of each row stands below the others.
std::string filled_text(std::string_view text, int width);

}  // namespace podsim::scenarios
