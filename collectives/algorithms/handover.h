// Handover: every sending chip sends its bytes to the chip at one displacement, in its slice or in
// another.
//
// Within a slice the bytes take the shortest routes, ties split evenly (routes.h), and messages are
// cut-through from link to link. To another slice they take the machine graph's route
// (topology/graph/machine_routes.h).
#pragma once

#include "collectives/algorithms/collective_schedule.h"

namespace podsim::collectives {

/// The destination: a number of chips along each axis, and of ranks round a factor of the slices.
struct HandoverTo {
    topology::Point chips{};
    topology::SliceFactor across{};
    int ranks = 0;
};

/// Builds the schedule for `bytes` of each chip. Role 0 sends and role 1 receives; every operation
/// assigns the roles to chips (sim::OperationSpec::placement). Throws sim::InputError beyond 20
/// million messages, and if a link is dead along an axis that the routes take.
CollectiveSchedule build_handover(const topology::Lattice& slice, const HandoverTo& to,
                                  sim::Bytes bytes, const ScheduleOptions& options,
                                  ShiftTable& shifts);

}  // namespace podsim::collectives
