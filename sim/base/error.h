// The one exception for bad input. Bugs are assertions; infeasible results are values.
#pragma once

#include <stdexcept>
#include <string>

namespace podsim::sim {

/// Where in the user's text a problem stands. Lines and columns count from 1; 0 means unknown.
struct SourceMark {
    std::string file;
    int line = 0;
    int column = 0;
};

/// Bad input: what is wrong (why), and what to do instead.
///
/// what() reads `file:line:column: problem; remedy`, with the parts that are known.
class InputError : public std::runtime_error {
public:
    explicit InputError(std::string problem, std::string remedy = {}, SourceMark mark = {});

    [[nodiscard]] const std::string& problem() const { return problem_; }
    [[nodiscard]] const std::string& remedy() const { return remedy_; }
    [[nodiscard]] const SourceMark& mark() const { return mark_; }

    /// The same error at a place in a file, where it had none.
    [[nodiscard]] InputError at(const SourceMark& mark) const;

private:
    std::string problem_;
    std::string remedy_;
    SourceMark mark_;
};

}  // namespace podsim::sim
