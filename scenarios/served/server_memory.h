// How many tokens of cache the memory of a server holds beside its weights and what a step needs.
#pragma once

#include <cstdint>

#include "scenarios/spec/scenario.h"
#include "sim/base/quantity.h"

namespace podsim::scenarios {

/// Tokens, on all chips together, whose keys and values fit when a step has at most so many new tokens of at most so many
/// sequences. A token counts with all layers, those with a window too, as engines with one pool of pages hold it. Of
/// `share` of the memory that programs may use. 0: the weights alone do not fit.
std::int64_t cached_tokens_that_fit(const Scenario& scenario, std::int64_t step_tokens,
                                    std::int64_t sequences, double share);

/// Keys and values of one token, all layers and heads, once.
sim::Bytes cache_of_token(const Scenario& scenario);

}  // namespace podsim::scenarios
