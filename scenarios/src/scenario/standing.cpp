#include "scenarios/src/scenario/standing.h"

#include <cmath>

namespace podsim::scenarios {

bool differs(double error, double within) {
    constexpr double kAgreement = 0.05;
    constexpr double kMostOfTolerance = 0.8;
    const double size = std::abs(error);
    return size <= within &&
           (size > kAgreement || (within > kAgreement && size > kMostOfTolerance * within));
}

std::string_view standing(double error, double within) {
    return std::abs(error) > within ? "FAILS" : differs(error, within) ? "differs" : "holds";
}

}  // namespace podsim::scenarios
