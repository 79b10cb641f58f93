// Single changes of a plan with which a step fits that otherwise does not.
#pragma once

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// Returns the remedies; none for a step that fits. They are those of the result, if they were
/// simulated. Otherwise they are those with which the step fits in program order, if it also held
/// as much beyond that order as the step itself.
Remedies memory_remedies(const Scenario& scenario, const StepResult& result);

/// Returns the changes with which a step that does not fit would fit in program order. A run may
/// hold more (docs/decisions.md, "Events are counted, memory is taken in program order").
Remedies remedies_in_order(const Scenario& scenario, const StepResult& result);
/// Returns the memory that the simulated step holds beyond its program in order; not below 0.
sim::Bytes held_beyond_order(const Scenario& scenario, const StepResult& result);

/// Adds `remedies` to the `memory` of a result that does not fit, and `least_peak_bytes` if there
/// are none.
void add_remedies(Json& memory, const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
