// How many tokens prompts and outputs have: fixed, or drawn from a distribution.
#pragma once

#include <cstdint>

#include "scenarios/requests/draws.h"

namespace podsim::scenarios {

enum class LengthKind {
    fixed,    ///< `least` tokens
    uniform,  ///< whole numbers least..most, equally likely
    lognormal,  ///< e^(mu + sigma z) with mu = ln(mean) - sigma^2 / 2, rounded, held within least..most
};

struct LengthSpec {
    LengthKind kind = LengthKind::fixed;
    std::int64_t least = 1;
    std::int64_t most = 1;
    double mean = 1;   ///< lognormal: before it is held within least..most
    double sigma = 0;  ///< lognormal: standard deviation of the logarithm
};

std::int64_t draw_length(const LengthSpec& spec, Draws& draws);

/// The longest that may be drawn.
std::int64_t longest(const LengthSpec& spec);

}  // namespace podsim::scenarios
