#include "scenarios/console/help_text.h"

#include <algorithm>
#include <sstream>

namespace podsim::scenarios {
namespace {

bool is_of_table(std::string_view line) {
    return line.starts_with(' ') || line.find("  ") != std::string_view::npos;
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
        words.push_back(std::move(word));
    }
    return words;
}

}  // namespace

std::vector<Paragraph> paragraphs_of(std::string_view text) {
    std::istringstream lines{std::string(text)};
    std::vector<Paragraph> paragraphs;
    bool after_blank = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty()) {
            after_blank = !paragraphs.empty();
            continue;
        }
        const bool is_table = is_of_table(line);
        if (paragraphs.empty() || after_blank || paragraphs.back().is_table != is_table) {
            paragraphs.push_back({line, is_table, after_blank});
        } else {
            paragraphs.back().text += (is_table ? '\n' : ' ') + line;
        }
        after_blank = false;
    }
    return paragraphs;
}

std::vector<std::string> synopsis_parts(std::string_view synopsis) {
    std::vector<std::string> parts;
    std::string part;
    int depth = 0;
    for (const char c : synopsis) {
        const bool blank = c == ' ' || c == '\n';
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (!blank) {
            part += c;
        } else if (depth > 0) {
            part += part.ends_with(' ') ? "" : " ";
        } else if (!part.empty()) {
            parts.push_back(std::move(part));
            part.clear();
        }
    }
    if (!part.empty()) {
        parts.push_back(std::move(part));
    }
    return parts;
}

std::string filled(const std::vector<std::string>& parts, int width, int indent) {
    const auto room = static_cast<std::size_t>(std::max(width, 1));
    const std::string blanks(static_cast<std::size_t>(indent), ' ');
    std::string all;
    std::string row;
    for (const std::string& part : parts) {
        if (!row.empty() && row.size() + 1 + part.size() > room) {
            all += row + '\n';
            row = blanks + part;
        } else {
            row += (row.empty() ? "" : " ") + part;
        }
    }
    return all + row + '\n';
}

std::string filled_text(std::string_view text, int width) {
    std::string all;
    for (const Paragraph& paragraph : paragraphs_of(text)) {
        all += paragraph.after_blank ? "\n" : "";
        all +=
            paragraph.is_table ? paragraph.text + '\n' : filled(words_of(paragraph.text), width, 0);
    }
    return all;
}

}  // namespace podsim::scenarios
