// The error of a difference: how far the predicted ratio of two steps lies from the measured one.
//
// What a model gets wrong of a chip or of a kind of layer it gets wrong in both steps, so that ratios are better than steps. The
// pairs are those of the published training steps with the same chip, kind of matmuls and model (by name and parameters): they
// differ in slices, chips, mesh and batch. Of a pair the error is |ln(predicted A / predicted B) - ln(measured A / measured B)|.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "scenarios/calibrate/measurement.h"

namespace podsim::scenarios {

/// 80 % of the pairs of scenarios/published lie within it, predicted by factors fitted without their family or by the profile as it
/// is, whichever is larger; of so many.
/// Source: the line `Ratios` of `podsim calibrate` in docs/fidelity.md; both are tested against it, and it against the program.
inline constexpr double kRatioError = 0.064;
inline constexpr std::size_t kRatioPairs = 101;

struct RatioErrors {
    std::size_t pairs = 0;
    double four_of_five =
        0;  ///< the smallest that at least 80 % of the pairs keep within; 0 without any
    double worst = 0;
};

/// `predicted_s[i]` is of `measurements[i]`; one that is not above zero is no prediction.
RatioErrors ratio_errors(std::span<const Measurement> measurements,
                         const std::vector<double>& predicted_s);

/// Whether two predictions of one quantity, both above zero, lie so near that their order may be the other way round.
inline bool within_ratio_error(double one, double other) {
    return std::abs(std::log(one / other)) <= kRatioError;
}

}  // namespace podsim::scenarios
