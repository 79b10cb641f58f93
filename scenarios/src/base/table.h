// Aligned columns for a terminal, and whole numbers that add up to a printed sum.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace podsim::scenarios {

/// Rows with aligned columns: the first column is flush left, the others are flush right unless
/// they are marked as text.
class Table {
public:
    /// `text_columns` are the indices of columns beyond the first that are flush left.
    explicit Table(std::vector<std::size_t> text_columns = {})
        : text_columns_(std::move(text_columns)) {}

    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// Returns every row on its own line, indented by `indent`, with columns two blanks apart.
    [[nodiscard]] std::string text(int indent) const;

private:
    std::vector<std::size_t> text_columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// Returns whole numbers that add up to `total`, in proportion to `weights`, whose sum is above
/// zero. Each is rounded down and the largest remainders get the rest, so that a printed column
/// adds up to its sum. Negative weights are allowed.
std::vector<std::int64_t> apportion(std::span<const double> weights, std::int64_t total);

}  // namespace podsim::scenarios
