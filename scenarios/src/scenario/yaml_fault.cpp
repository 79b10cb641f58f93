#include "scenarios/src/scenario/yaml_fault.h"

#include <fmt/format.h>
#include <optional>
#include <sstream>
#include <string_view>

#include "scenarios/src/base/quote.h"

namespace podsim::scenarios {
namespace {

std::string line_of(const std::string& text, int line) {
    std::istringstream lines(text);
    std::string one;
    for (int i = 0; i < line; ++i) {
        std::getline(lines, one);
    }
    return one;
}

/// True if a tab is in the blanks before a line's first word.
bool begins_with_tab(const std::string& line) {
    return line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string::npos;
}

/// Returns the name behind `*` at a position.
std::string alias_at(const std::string& line, int column) {
    const std::size_t begin = line.find('*', static_cast<std::size_t>(column - 1));
    return begin == std::string::npos
               ? std::string()
               : line.substr(begin, line.find_first_of(" ,]}\t\r", begin) - begin);
}

/// Follows the quotes of a text. A quote opens where a value may begin; `''` within single ones and
/// `\"` within double ones close nothing, and a comment ends with its line.
class Quotes {
public:
    explicit Quotes(const std::string& text) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            i += step(text, i);
            ++column_;
            if (text[i] == '\n') {
                ++line_;
                column_ = 1;
                comment_ = false;
            }
        }
    }
    [[nodiscard]] const std::optional<sim::SourceMark>& open() const { return open_; }

private:
    /// Returns how many further characters belong to this one.
    std::size_t step(const std::string& text, std::size_t i) {
        const char c = text[i];
        if (open_) {
            const bool escaped = (quote_ == '"' && c == '\\') ||
                                 (quote_ == '\'' && c == '\'' && text.substr(i + 1, 1) == "'");
            if (escaped && i + 1 < text.size() && text[i + 1] != '\n') {
                ++column_;
                return 1;
            }
            if (c == quote_) {
                open_.reset();
            }
        } else if (!comment_) {
            const char before = i == 0 ? '\n' : text[i - 1];
            const bool begins = std::string_view(" \t\n[{,").find(before) != std::string_view::npos;
            comment_ = c == '#' && begins;
            if ((c == '"' || c == '\'') && begins) {
                quote_ = c;
                open_ = {{}, line_, column_};
            }
        }
        return 0;
    }

    int line_ = 1;
    int column_ = 1;
    bool comment_ = false;
    char quote_ = 0;
    std::optional<sim::SourceMark> open_;
};

}  // namespace

sim::InputError yaml_fault(const std::string& text, const std::string& problem,
                           const sim::SourceMark& mark) {
    const Quotes quotes(text);
    if (quotes.open() && mark.line > 0) {
        return sim::InputError("the quote that opens here is not closed",
                               "close it behind its text",
                               {mark.file, quotes.open()->line, quotes.open()->column});
    }
    const std::string line = line_of(text, mark.line);
    if (problem == "the referenced anchor is not defined") {
        return sim::InputError(
            fmt::format("{} stands for nothing", in_quotes(alias_at(line, mark.column))),
            "write the value out, or quote it when it is text that starts with '*'", mark);
    }
    return sim::InputError(fmt::format("this is not valid YAML: {}", problem),
                           begins_with_tab(line)
                               ? "indent this line with spaces: it begins with a tab"
                               : "check the brackets, quotes and indentation here",
                           mark);
}

}  // namespace podsim::scenarios
