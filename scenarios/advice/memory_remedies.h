// What would make a step fit that does not: single changes of its plan.
#pragma once

#include "scenarios/simulate/simulate.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// None of a step that fits. Those of the result, where they were simulated; else by the account of memory in program order, of which a run
/// may hold more (docs/decisions.md, "Events are counted, memory is taken in program order").
Remedies memory_remedies(const Scenario& scenario, const StepResult& result);

/// Of the `memory` of a result that does not fit `remedies`, and where there are none `least_peak_bytes`.
void add_remedies(Json& memory, const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
