// Warnings about a layout, ceilings of a step, and the meaning of unequal work and of negative
// terms.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// Returns a line with the cost of members' unequal work; empty if there is none.
std::string imbalance_report(const Scenario& scenario, const StepResult& result);

/// Returns a line for each kind of negative term of a gap, with its meaning; empty if there is
/// none.
std::string negative_terms(std::span<const Share> gap);

/// Returns a line for each ceiling, with its saving; empty if there is none.
std::string ceilings_report(const StepResult& result);

/// Returns warnings about this chip (profile_warnings) and layout, a sentence each. One begins with
/// `fsdp spans slices, ...`: an axis that exchanges in every layer crosses the data-centre network,
/// which is on the critical path for more than 2 % of the step.
std::vector<std::string> warnings(const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
