// The exact time of a collective on its own, if its algorithm has a closed form.
#pragma once

#include <optional>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/link_model.h"

namespace podsim::collectives {

/// Returns the time that the simulation of this call takes on its own, to the picosecond
/// (ring_times.h, reduce_broadcast.h, send.h, broadcast.h). Returns nothing between slices, for
/// groups of several factors or strided ones (but see broadcast), for AllToAll, permute, gather and
/// scatter, and for AllReduce on lines as ReduceScatter then AllGather. Throws sim::InputError if
/// the operation has no such algorithm.
std::optional<sim::Time> closed_form(const CollectiveCall& call, const ScheduleOptions& options,
                                     const LinkModel& link);

}  // namespace podsim::collectives
