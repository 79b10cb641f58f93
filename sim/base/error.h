// The one exception for bad input. Bugs are assertions; infeasible results are values.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace podsim::sim {

/// Position of a problem in the user's text. Lines and columns count from 1; 0 means unknown.
struct SourceMark {
    std::string file;
    int line = 0;
    int column = 0;
};

/// Bad input: the problem, and a remedy.
///
/// what() reads `file:line:column: problem; remedy`; unknown fields are left out. InputErrors,
/// below, stands for several errors.
class InputError : public std::runtime_error {
public:
    explicit InputError(std::string problem, std::string remedy = {}, SourceMark mark = {});

    [[nodiscard]] const std::string& problem() const { return problem_; }
    [[nodiscard]] const std::string& remedy() const { return remedy_; }
    [[nodiscard]] const SourceMark& mark() const { return mark_; }

    /// Returns the same error with `mark`, unless it already has a file.
    [[nodiscard]] InputError at(const SourceMark& mark) const;

private:
    std::string problem_;
    std::string remedy_;
    SourceMark mark_;
};

/// Several faults of one input. As an InputError it is the first one; what() has a line for each.
class InputErrors : public InputError {
public:
    /// Takes at least one error, in reading order.
    explicit InputErrors(std::vector<InputError> all);

    [[nodiscard]] const std::vector<InputError>& all() const { return all_; }
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

private:
    std::vector<InputError> all_;
    std::string text_;
};

/// Returns the errors that `error` stands for: those of an InputErrors, or the error alone.
std::vector<InputError> errors_in(const InputError& error);

}  // namespace podsim::sim
