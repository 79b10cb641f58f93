// How many tokens of cache the memory of a server holds beside its weights and what a step needs.
#pragma once

#include <cstdint>
#include <span>

#include "scenarios/serve/serving_spec.h"
#include "scenarios/serve/step_times.h"
#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

/// Tokens, on all chips together, whose keys and values fit beside weights and the buffers of the step among `steps` that needs
/// most, caches left out. A token counts with all layers, within their windows. Of
/// `share` of the memory that programs may use. 0: weights and a step alone do not fit.
std::int64_t cached_tokens_that_fit(const Scenario& scenario, std::span<const StepShape> steps,
                                    double share);

/// What a sequence takes of them, as a step holds it (inference.h): tokens beyond a window those of the other layers. Of the stages of a
/// pipeline the one that has most for such tokens beside the one that has most for a token counts.
KeptTokens kept_on_chips(const Scenario& scenario);

}  // namespace podsim::scenarios
