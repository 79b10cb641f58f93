// What relative errors come to together.
#pragma once

#include <span>

namespace podsim::scenarios {

/// Mean absolute relative error, and the mean signed one.
struct ErrorSummary {
    double mean_absolute = 0;
    double bias = 0;
    double worst = 0;  ///< the largest by size, with its sign
};
ErrorSummary summarise(std::span<const double> relative_errors);

}  // namespace podsim::scenarios
