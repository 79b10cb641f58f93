#include "workloads/hlo/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>

namespace podsim::workloads::hlo {
namespace {

bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

bool is_blank(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}

char closing(char opening) {
    return opening == '(' ? ')' : opening == '[' ? ']' : '}';
}

constexpr std::size_t kMostShown = 24;

}  // namespace

void Text::skip_blanks() {
    while (at_ < text_.size()) {
        if (is_blank(text_[at_])) {
            ++at_;
        } else if (text_.substr(at_, 2) == "//") {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (text_.substr(at_, 2) == "/*") {
            const std::size_t end = text_.find("*/", at_ + 2);
            at_ = end == std::string_view::npos ? text_.size() : end + 2;
        } else {
            return;
        }
    }
}

bool Text::at_end() {
    return peek() == 0;
}

char Text::peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
}

bool Text::at(std::string_view word) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(word)) {
        return false;
    }
    const std::size_t behind = at_ + word.size();
    return !in_word(word.back()) || behind == text_.size() || !in_word(text_[behind]);
}

bool Text::take(std::string_view word) {
    if (!at(word)) {
        return false;
    }
    at_ += word.size();
    return true;
}

void Text::expect(std::string_view word) {
    if (take(word)) {
        return;
    }
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    const std::string_view shown = rest.substr(0, std::min(rest.find('\n'), kMostShown));
    throw error(shown.empty() ? fmt::format("expected '{}' but the text ends", word)
                              : fmt::format("expected '{}' but found '{}'", word, shown));
}

std::string Text::name() {
    take("%");
    const std::string_view found = word();
    if (found.empty()) {
        throw error("expected a name");
    }
    return std::string(found);
}

std::string_view Text::word() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && in_word(text_[at_])) {
        ++at_;
    }
    return text_.substr(begin, at_ - begin);
}

std::int64_t Text::number() {
    skip_blanks();
    std::int64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, failure] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (failure != std::errc()) {
        throw error("expected a whole number");
    }
    at_ += static_cast<std::size_t>(end - begin);
    return value;
}

std::string_view Text::balanced(std::string_view until) {
    skip_blanks();
    const std::size_t begin = at_;
    const sim::SourceMark start = mark();
    std::string open;
    for (; at_ < text_.size(); ++at_) {
        const char c = text_[at_];
        if (c == '"') {
            for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
                at_ += text_[at_] == '\\' ? 1 : 0;
            }
        } else if (text_.substr(at_, 2) == "/*") {
            at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 1;
        } else if (open.empty() && until.find(c) != std::string_view::npos) {
            break;
        } else if (c == '(' || c == '[' || c == '{') {
            open.push_back(closing(c));
        } else if (c == ')' || c == ']' || c == '}') {
            if (open.empty() || open.back() != c) {
                throw error(fmt::format("'{}' without its beginning", c));
            }
            open.pop_back();
        }
    }
    at_ = std::min(at_, text_.size());
    if (!open.empty()) {
        throw sim::InputError(fmt::format("'{}' is missing", open.back()), {}, start);
    }
    std::string_view found = text_.substr(begin, at_ - begin);
    while (!found.empty() && is_blank(found.back())) {
        found.remove_suffix(1);
    }
    return found;
}

void Text::skip_line() {
    at_ = std::min(text_.find('\n', at_), text_.size());
}

/// Counts on from the last counted offset, forward or back, so that a line as long as the text
/// costs no more than others.
void Text::count_lines() const {
    const std::size_t at = std::min(at_, text_.size());
    const bool back = at < counted_to_;
    const std::string_view between =
        text_.substr(std::min(at, counted_to_), back ? counted_to_ - at : at - counted_to_);
    const auto lines = static_cast<int>(std::ranges::count(between, '\n'));
    lines_before_ += back ? -lines : lines;
    if (lines > 0) {
        const std::size_t before = text_.substr(0, at).rfind('\n');
        line_start_ = before == std::string_view::npos ? 0 : before + 1;
    }
    counted_to_ = at;
}

int Text::line() const {
    count_lines();
    return first_line_ + lines_before_;
}

sim::SourceMark Text::mark() const {
    const int on = line();
    return {file_, on, static_cast<int>(counted_to_ - line_start_) + 1};
}

sim::InputError Text::error(const std::string& problem, const std::string& remedy) const {
    return sim::InputError(problem, remedy, mark());
}

}  // namespace podsim::workloads::hlo
