// A simulated step as a timeline.
#pragma once

#include <cstddef>

#include "scenarios/run/step_trail.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/timeline/timeline.h"

namespace podsim::scenarios {

/// With more operations than that in all its programs, a step is told of by layer, but for the steady windows: its
/// compute stream has a slice for each pass over a layer (waits between its operations included), and collectives,
/// host transfers and units are left out, while what stages send each other is not.
inline constexpr std::size_t kOpsInFull = 20'000;

/// Tells of a process for each program of the step (stages, and members that do unequal work): the chip of it that ends
/// last. On its track `XLA Ops` slices follow each other without gaps from 0 to the end of the run. A collective's slice
/// goes from when the chip begins it to when it has ended there; that of what is received from when the sender let go. A
/// unit's slice begins with its kernel and is as long as the unit is busy alone.
void tell_step(const Scenario& scenario, const StepTrail& trail, Detail detail, TimelineSink& sink);

}  // namespace podsim::scenarios
