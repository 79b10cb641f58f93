// A simulated step as a timeline.
#pragma once

#include <cstddef>

#include "scenarios/src/report/timeline.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/simulate/step_trail.h"

namespace podsim::scenarios {

/// Limit on the operations of all programs of a step. Beyond it, operations appear only in the
/// steady windows; elsewhere the compute stream has one slice for each pass over a layer, including
/// waits between its operations. Collectives, host transfers and units are then left out there, but
/// messages between stages are not.
inline constexpr std::size_t kOpsInFull = 20'000;

/// Emits a process for each program of the step (stages, and members that do unequal work). It
/// shows the chip of the program that ends last. On its track `XLA Ops` slices follow each other
/// without gaps from 0 to the end of the run. The slice of a collective lasts from its begin to its
/// end on that chip; the slice of a receive begins when the sender sent. A unit's slice begins with
/// its kernel and is as long as the unit is busy with it alone.
void tell_step(const Scenario& scenario, const StepTrail& trail, Detail detail, TimelineSink& sink);

}  // namespace podsim::scenarios
