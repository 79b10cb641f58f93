// The schedule of one ring step (ring_steps.h).
#pragma once

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/vocabulary/ring_step.h"

namespace podsim::collectives {

/// Every member of every group (or those of step.senders, of a group of one factor) sends `step.bytes` to the next along
/// one factor; with Motion::reduce, partial sums that it adds to its own. Payloads: pieces of block 0. Throws
/// sim::InputError when links of the factor's axis are dead, and beyond 20 million messages.
CollectiveSchedule build_ring_step(const topology::Lattice& slice, const Group& group,
                                   const RingStep& step, Motion motion,
                                   const ScheduleOptions& options, ShiftTable& shifts);

}  // namespace podsim::collectives
