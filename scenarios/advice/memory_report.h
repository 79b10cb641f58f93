// The memory section of a step's report: the peak by class, and for a step that does not fit what would make it fit,
// found by trying single changes of the plan.
#pragma once

#include <string>

#include "scenarios/simulate/simulate.h"

namespace podsim::scenarios {

std::string memory_report(const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
