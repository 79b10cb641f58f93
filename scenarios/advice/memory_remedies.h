// What would make a step fit that does not: single changes of its plan.
#pragma once

#include "scenarios/simulate/simulate.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// None of a step that fits. Those of the result, where they were simulated; else those with which it fits in program order, were as much
/// held beyond that as the step itself holds.
Remedies memory_remedies(const Scenario& scenario, const StepResult& result);

/// Those with which a step that does not fit would in program order, of which a run may hold more (docs/decisions.md, "Events are counted,
/// memory is taken in program order").
Remedies remedies_in_order(const Scenario& scenario, const StepResult& result);
/// How much the simulated step holds more than its program in order; not below 0.
sim::Bytes held_beyond_order(const Scenario& scenario, const StepResult& result);

/// Of the `memory` of a result that does not fit `remedies`, and where there are none `least_peak_bytes`.
void add_remedies(Json& memory, const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
