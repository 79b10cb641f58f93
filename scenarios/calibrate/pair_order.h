// How many pairs of steps a prediction puts in the right order: what a planner asks of it.
#pragma once

#include <span>
#include <vector>

#include "scenarios/calibrate/measurement.h"

namespace podsim::scenarios {

struct PairOrder {
    int pairs = 0;
    double right = 0;  ///< a pair that the prediction holds for equal counts half
    [[nodiscard]] double share() const { return pairs > 0 ? right / pairs : 0; }
};

/// Over the pairs of steps on one chip with one kind of matmuls, by time over 6ND on a chip. Pairs whose measured values differ by
/// less than 1 % are left out. `predicted_s[i]` is of `measurements[i]`; one that is not above zero is no prediction.
PairOrder pair_order(std::span<const Measurement> measurements,
                     const std::vector<double>& predicted_s);

}  // namespace podsim::scenarios
