// A cursor over the text of a module. It skips blanks and comments (`//` to the end of the line,
// `/* */`) between tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/base/error.h"

namespace podsim::workloads::hlo {

class Text {
public:
    /// `file` is named in errors; `line` is the number of the first line.
    explicit Text(std::string_view text, std::string file = {}, int line = 1)
        : text_(text), file_(std::move(file)), first_line_(line) {}

    /// True if only blanks and comments are left.
    [[nodiscard]] bool at_end();
    /// Returns the next character that is not a blank; 0 at the end.
    [[nodiscard]] char peek();
    /// The character at the cursor, blank or not; 0 at the end.
    [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    /// True if `word` is next. The cursor stays in front of it.
    [[nodiscard]] bool at(std::string_view word);
    /// Skips `word` if it is next; returns true if it was.
    bool take(std::string_view word);
    /// Skips `word`. Throws sim::InputError if it is not next: `expected '(' but found 'x'`.
    void expect(std::string_view word);

    /// Reads a name: letters, digits, `_`, `.`, `-`. An optional `%` before it is left out. Throws
    /// sim::InputError.
    std::string name();
    /// Reads as many letters, digits, `_`, `.`, `-` as there are; may return an empty text.
    std::string_view word();
    /// Reads a whole number with its sign. Throws sim::InputError.
    std::int64_t number();
    /// Reads up to the next character of `until` that is outside of brackets, braces, parentheses
    /// and quoted text. Returns the text without blanks at its ends. Throws sim::InputError if a
    /// bracket is not closed.
    std::string_view balanced(std::string_view until);
    /// Skips blanks and comments.
    void skip_to_text() { skip_blanks(); }
    /// Skips the rest of the line.
    void skip_line();

    [[nodiscard]] int line() const;
    [[nodiscard]] sim::SourceMark mark() const;
    [[nodiscard]] sim::InputError error(const std::string& problem,
                                        const std::string& remedy = {}) const;
    [[nodiscard]] std::size_t offset() const { return at_; }
    void go_to(std::size_t offset) { at_ = offset < text_.size() ? offset : text_.size(); }

private:
    void skip_blanks();
    void count_lines() const;

    std::string_view text_;
    std::string file_;
    int first_line_;
    std::size_t at_ = 0;
    /// Offset up to which count_lines() has counted.
    mutable std::size_t counted_to_ = 0;
    mutable int lines_before_ = 0;
    mutable std::size_t line_start_ = 0;
};

}  // namespace podsim::workloads::hlo
