// Factors that microbenchmarks isolate, fitted before any step is looked at.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/calibrate/fit.h"

namespace podsim::scenarios {

struct DefinedFactor {
    const topology::EfficiencyFactor* factor = nullptr;
    std::string chip;
    double value = 0;
};

/// The factors that measurements define, of each chip with such measurements; without those of `fitted`. `others` has the
/// factors that each chip begins with, and leaves with what was defined; a chip without takes the geometric mean of those with.
std::vector<DefinedFactor> define_factors(std::span<const Measurement> measurements,
                                          std::span<const std::string> fitted, ChipFactors& others,
                                          SimulatedTimes& times);

}  // namespace podsim::scenarios
