// A cursor over the text of a module. Blanks and comments (`//` to the end of the line, `/* */`) stand between tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/base/error.h"

namespace podsim::workloads::hlo {

class Text {
public:
    /// `file`: for errors. `line`: of the first character.
    explicit Text(std::string_view text, std::string file = {}, int line = 1)
        : text_(text), file_(std::move(file)), first_line_(line) {}

    /// Behind blanks and comments: nothing is left.
    [[nodiscard]] bool at_end();
    /// The next character that is no blank; 0 at the end.
    [[nodiscard]] char peek();
    /// The character at the cursor, a blank or not; 0 at the end.
    [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    /// The word at the cursor is this one; the cursor stays.
    [[nodiscard]] bool at(std::string_view word);
    /// Goes behind the text where it comes next; says whether it did.
    bool take(std::string_view word);
    /// Throws sim::InputError where it does not come next: `expected '(' but found 'x'`.
    void expect(std::string_view word);

    /// A name: letters, digits, `_`, `.`, `-`, with an optional `%` before it, which is left out. Throws sim::InputError.
    std::string name();
    /// Letters, digits, `_`, `.`, `-` as far as they go; may be empty.
    std::string_view word();
    /// A whole number, with its sign. Throws sim::InputError.
    std::int64_t number();
    /// What stands until the next of the characters in `until` outside of brackets, braces, parentheses and quoted text, without blanks at
    /// its ends. Throws sim::InputError where a bracket is not closed.
    std::string_view balanced(std::string_view until);
    /// Goes behind blanks and comments.
    void skip_to_text() { skip_blanks(); }
    /// Goes to the end of the line.
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
    mutable std::size_t counted_to_ = 0;  ///< count_lines() goes on from there
    mutable int lines_before_ = 0;
    mutable std::size_t line_start_ = 0;
};

}  // namespace podsim::workloads::hlo
