// Assumptions about each factor before any published step is used.
//
// A fit starts at these values and is pulled to them; a factor that the steps do not determine
// stays there. They come from microbenchmarks, the reference text and the factor's own range, never
// from a step. A fraction is known by its logarithm: one deviation is a factor of e^spread.
// `straggler` and `fusion`, which may be 0, are known by the value itself.
#pragma once

#include <string_view>

#include "topology/chips/efficiency.h"

namespace podsim::scenarios {

struct Prior {
    std::string_view factor;
    double value;
    /// One standard deviation, of the logarithm or of the value.
    double spread;
    bool logarithm;
    std::string_view source;
};

/// Returns the prior of a factor. Every factor of topology::efficiency_factors() has one.
const Prior& prior_of(std::string_view factor);

/// Convert a value to deviations from the prior, and back; the value stays within the factor's
/// range.
double to_deviations(const topology::EfficiencyFactor& factor, double value);
double from_deviations(const topology::EfficiencyFactor& factor, double deviations);

}  // namespace podsim::scenarios
