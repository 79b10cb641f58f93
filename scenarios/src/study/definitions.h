// Fits the factors that microbenchmarks isolate, before any step is used.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/src/study/fit.h"

namespace podsim::scenarios {

struct DefinedFactor {
    const topology::EfficiencyFactor* factor = nullptr;
    std::string chip;
    double value = 0;
};

/// Returns the factors that measurements define, for each chip with such measurements, except those
/// of `fitted`. `others` holds the initial factors of each chip and receives the defined ones; a
/// chip without measurements takes the geometric mean of those with them.
std::vector<DefinedFactor> define_factors(std::span<const Measurement> measurements,
                                          std::span<const std::string> fitted, ChipFactors& others,
                                          SimulatedTimes& times);

}  // namespace podsim::scenarios
