// What could be better: warnings about a layout, ceilings of a step, and what unequal work and negative terms mean.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/simulate/simulate.h"

namespace podsim::scenarios {

/// What unequal work of members costs, in a line; empty without.
std::string imbalance_report(const Scenario& scenario, const StepResult& result);

/// What the negative terms of a gap mean, a line for each kind; empty without.
std::string negative_terms(std::span<const Share> gap);

/// What the step could gain, a line for each ceiling; empty without.
std::string ceilings_report(const StepResult& result);

/// Warnings about this chip (profile_warnings) and layout, a sentence each: `fsdp spans slices, ...` when an axis
/// that is exchanged in every layer crosses the data-centre network and that is on the critical path for 2 % of the step.
std::vector<std::string> warnings(const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
