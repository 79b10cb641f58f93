// Summary of relative errors.
#pragma once

#include <span>

namespace podsim::scenarios {

/// Mean absolute relative error, and the mean signed one.
struct ErrorSummary {
    double mean_absolute = 0;
    double bias = 0;
    /// The largest by magnitude, with its sign.
    double worst = 0;
};
ErrorSummary summarise(std::span<const double> relative_errors);

}  // namespace podsim::scenarios
