#include "scenarios/src/base/table.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

namespace podsim::scenarios {
namespace {

/// Returns the number of characters that a terminal shows, counted as UTF-8 code points.
std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

std::string Table::text(int indent) const {
    std::vector<std::size_t> widths;
    for (const auto& cells : rows_) {
        widths.resize(std::max(widths.size(), cells.size()));
        for (std::size_t column = 0; column < cells.size(); ++column) {
            widths[column] = std::max(widths[column], width(cells[column]));
        }
    }
    std::string text;
    for (const auto& cells : rows_) {
        std::string line(static_cast<std::size_t>(indent), ' ');
        for (std::size_t column = 0; column < cells.size(); ++column) {
            const std::string padding(widths[column] - width(cells[column]), ' ');
            const bool left = column == 0 || std::ranges::count(text_columns_, column) > 0;
            line += left ? cells[column] + padding : padding + cells[column];
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

std::vector<std::int64_t> apportion(std::span<const double> weights, std::int64_t total) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<std::int64_t> parts(weights.size(), 0);
    if (!(std::abs(sum) > 0)) {
        return parts;
    }
    std::vector<double> remainders(weights.size());
    std::int64_t left = total;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double exact = weights[i] / sum * static_cast<double>(total);
        parts[i] = static_cast<std::int64_t>(std::floor(exact));
        remainders[i] = exact - std::floor(exact);
        left -= parts[i];
    }
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
    for (std::size_t i = 0; i < order.size() && left > 0; ++i, --left) {
        ++parts[order[i]];
    }
    return parts;
}

}  // namespace podsim::scenarios
