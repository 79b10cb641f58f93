// Counts the pairs of steps that a prediction puts in the right order, which is the question of a
// planner.
#pragma once

#include <span>
#include <vector>

#include "scenarios/src/study/measurement.h"

namespace podsim::scenarios {

struct PairOrder {
    int pairs = 0;
    /// A pair that the prediction considers equal counts half.
    double right = 0;
    [[nodiscard]] double share() const { return pairs > 0 ? right / pairs : 0; }
};

/// Counts the pairs of steps on one chip with one kind of matmuls, compared by time over 6ND on a
/// chip. Pairs whose measured values differ by less than 1 % are left out. `predicted_s[i]` belongs
/// to `measurements[i]`; a value that is not above zero is no prediction.
PairOrder pair_order(std::span<const Measurement> measurements,
                     const std::vector<double>& predicted_s);

}  // namespace podsim::scenarios
