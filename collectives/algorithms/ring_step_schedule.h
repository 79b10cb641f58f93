// The schedule of one ring step.
#pragma once

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/vocabulary/ring_step.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

/// Returns the next member of the ring by twos on a line: 0, 2, 4, ... up to its end, then ..., 5,
/// 3, 1.
int next_by_twos(int position, int length);

/// Throws sim::InputError for the whole of a twisted slice, whose rings differ by order.
SteppedGather step_gather(const topology::Lattice& slice, const Group& group, bool two_way);

/// Builds the step: every member of every group sends `step.bytes` to the next along one factor.
/// With step.senders only these send, in a group of one factor. With Motion::reduce the bytes are
/// partial sums that the receiver adds to its own. Payloads are pieces of block 0. Throws
/// sim::InputError if links of the factor's axis are dead, and beyond 20 million messages.
CollectiveSchedule build_ring_step(const topology::Lattice& slice, const Group& group,
                                   const RingStep& step, Motion motion,
                                   const ScheduleOptions& options, ShiftTable& shifts);

}  // namespace podsim::collectives
