// How many tokens of cache the memory of a server holds beside its weights and what a step needs.
#pragma once

#include <cstdint>
#include <span>

#include "scenarios/serve/step_times.h"
#include "scenarios/spec/scenario.h"
#include "sim/base/quantity.h"

namespace podsim::scenarios {

/// Tokens, on all chips together, whose keys and values fit beside weights and the buffers of the step among `steps` that needs
/// most, caches left out. A token counts with all layers, those with a window too, as engines with one pool of pages hold it. Of
/// `share` of the memory that programs may use. 0: weights and a step alone do not fit.
std::int64_t cached_tokens_that_fit(const Scenario& scenario, std::span<const StepShape> steps,
                                    double share);

/// Keys and values of one token, all layers and heads, once.
sim::Bytes cache_of_token(const Scenario& scenario);

}  // namespace podsim::scenarios
