// Fractions of a time as printed columns that add up.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// Fractions of a whole as two printed columns, milliseconds and percent, each of which adds up to
/// its printed sum. Milliseconds have as many decimals as give the whole five digits.
class ShareColumns {
public:
    ShareColumns(std::span<const Share> shares, sim::Time whole);

    /// Returns the cells of the sum of shares [first, last): name, milliseconds, percent.
    [[nodiscard]] std::vector<std::string> cells(std::string name, std::size_t first,
                                                 std::size_t last) const;

private:
    int decimals_ = 1;
    std::vector<std::int64_t> times_;     ///< in units of the last decimal
    std::vector<std::int64_t> percents_;  ///< in tenths
};

std::vector<Share> without_zeros(std::span<const Share> shares);

sim::Time total_of(std::span<const Share> shares);

}  // namespace podsim::scenarios
