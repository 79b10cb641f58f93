#include "scenarios/src/cli/help_text.h"

#include <algorithm>
#include <iterator>
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

/// Splits a row at two or more blanks.
std::vector<std::string> fields_of(const std::string& row) {
    std::vector<std::string> fields;
    for (std::size_t at = row.find_first_not_of(' '); at < row.size();) {
        const std::size_t end = std::min(row.find("  ", at), row.size());
        fields.push_back(row.substr(at, end - at));
        at = row.find_first_not_of(' ', end);
    }
    return fields;
}

/// Moves each row's last field, the most informative one, to lines of its own below the others.
std::string narrow_table(const std::string& table, int width) {
    constexpr std::size_t kDeeper = 6;
    std::istringstream rows(table);
    std::string all;
    for (std::string row; std::getline(rows, row);) {
        const std::size_t indent = std::min(row.find_first_not_of(' '), row.size());
        std::vector<std::string> fields = fields_of(row);
        if (fields.empty()) {
            all += '\n';
            continue;
        }
        std::vector<std::string> last;
        if (fields.size() > 1) {
            last = words_of(fields.back());
            fields.pop_back();
            last.front().insert(0, indent + kDeeper, ' ');
        }
        std::vector<std::string> parts;
        for (const std::string& field : fields) {
            if (indent + kDeeper + field.size() > static_cast<std::size_t>(width)) {
                std::ranges::copy(words_of(field), std::back_inserter(parts));
            } else {
                parts.push_back(field + ' ');
            }
        }
        parts.front().insert(0, indent, ' ');
        const auto deeper = static_cast<int>(indent + kDeeper);
        all += filled(parts, width, deeper) + (last.empty() ? "" : filled(last, width, deeper));
    }
    return all;
}

bool is_wider(const std::string& table, int width) {
    std::istringstream rows(table);
    std::string row;
    while (std::getline(rows, row)) {
        if (row.size() > static_cast<std::size_t>(width)) {
            return true;
        }
    }
    return false;
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
            row.erase(row.find_last_not_of(' ') + 1);
            all += row + '\n';
            row = blanks + part;
        } else {
            row += (row.empty() ? "" : " ") + part;
        }
    }
    row.erase(row.find_last_not_of(' ') + 1);
    return all + row + '\n';
}

std::string filled_text(std::string_view text, int width) {
    std::string all;
    for (const Paragraph& paragraph : paragraphs_of(text)) {
        all += paragraph.after_blank ? "\n" : "";
        all += !paragraph.is_table               ? filled(words_of(paragraph.text), width, 0)
               : is_wider(paragraph.text, width) ? narrow_table(paragraph.text, width)
                                                 : paragraph.text + '\n';
    }
    return all;
}

}  // namespace podsim::scenarios
