// What is taken of a factor before any published step is looked at.
//
// A fit starts at these values and is pulled to them; a factor that the steps do not determine stays there. They come from
// microbenchmarks, the reference text and the factor's own range, never from a step. A share is known by its logarithm:
// one deviation is a factor of e^spread; `straggler` and `fusion`, which may be 0, by the value itself.
#pragma once

#include <string_view>

#include "topology/chips/efficiency.h"

namespace podsim::scenarios {

struct Prior {
    std::string_view factor;
    double value;
    double spread;  ///< one standard deviation: of the logarithm, or of the value
    bool logarithm;
    std::string_view source;
};

/// Every factor of topology::efficiency_factors() has one.
const Prior& prior_of(std::string_view factor);

/// Deviations from the prior, and back; the value keeps within the factor's range.
double to_deviations(const topology::EfficiencyFactor& factor, double value);
double from_deviations(const topology::EfficiencyFactor& factor, double deviations);

}  // namespace podsim::scenarios
