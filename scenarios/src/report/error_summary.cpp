#include "scenarios/src/report/error_summary.h"

#include <cmath>

namespace podsim::scenarios {

ErrorSummary summarise(std::span<const double> relative_errors) {
    ErrorSummary summary;
    for (const double error : relative_errors) {
        const auto count = static_cast<double>(relative_errors.size());
        summary.mean_absolute += std::abs(error) / count;
        summary.bias += error / count;
        if (std::abs(error) > std::abs(summary.worst)) {
            summary.worst = error;
        }
    }
    return summary;
}

}  // namespace podsim::scenarios
