// Reports the difference of two steps as text and as JSON.
#pragma once

#include <string>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/study/step_difference.h"

namespace podsim::scenarios {

/// Returns a report whose first sentence says why; settings, headline, and the terms that differ
/// most follow. `verbose`: every line of every account.
std::string difference_text(const StepDifference& difference, bool verbose);

/// Returns a document of schema `podsim/2`, kind `diff`. Every term has its time in both steps, and
/// `more` in B.
Json difference_json(const StepDifference& difference);

}  // namespace podsim::scenarios
