// The error of a difference: how far the predicted ratio of two steps lies from the measured one.
//
// An error of the model for a chip or a kind of layer occurs in both steps, so that ratios are
// better than steps. The pairs are those of the published training steps with the same chip, kind
// of matmuls and model (by name and parameters). They differ in slices, chips, mesh and batch. The
// error of a pair is |ln(predicted A / predicted B) - ln(measured A / measured B)|.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "scenarios/src/study/measurement.h"

namespace podsim::scenarios {

/// Error within which 80 % of the pairs of scenarios/published lie, and the number of pairs. They
/// are predicted by factors fitted without their family or by the profile as it is, whichever gives
/// the larger error. Source: the line `Ratios` of `podsim calibrate` in docs/fidelity.md; both are
/// tested against it, and it against the program.
inline constexpr double kRatioError = 0.064;
inline constexpr std::size_t kRatioPairs = 101;

struct RatioErrors {
    std::size_t pairs = 0;
    /// The smallest error that at least 80 % of the pairs keep within; 0 without any.
    double four_of_five = 0;
    double worst = 0;
};

/// Returns the errors of all pairs. `predicted_s[i]` belongs to `measurements[i]`; a value that is
/// not above zero is no prediction.
RatioErrors ratio_errors(std::span<const Measurement> measurements,
                         const std::vector<double>& predicted_s);

/// True if two predictions of one quantity, both above zero, lie so near that their order may be
/// the reverse.
inline bool within_ratio_error(double one, double other) {
    return std::abs(std::log(one / other)) <= kRatioError;
}

}  // namespace podsim::scenarios
