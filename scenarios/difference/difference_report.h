// What sets two steps apart, for people and as JSON.
#pragma once

#include <string>

#include "scenarios/difference/step_difference.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// The first sentence says why; then settings, headline, and the terms that differ most. `verbose`: every line of every account.
std::string difference_text(const StepDifference& difference, bool verbose);

/// Schema `podsim/2`, kind `diff`. Every term has its time in both, and `more` in B.
Json difference_json(const StepDifference& difference);

}  // namespace podsim::scenarios
