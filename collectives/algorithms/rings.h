// AllGather, ReduceScatter and AllReduce along rings and lines, as collective_schedule.h describes
// them.
#pragma once

#include "collectives/algorithms/collective_schedule.h"

namespace podsim::collectives {

/// `call.algorithm` is resolved (catalogue/build_schedule.h). The functions throw sim::InputError
/// if the array would need more than 20 million messages, and if there is no detour round a dead
/// link.
CollectiveSchedule build_all_gather(const CollectiveCall& call, const ScheduleOptions& options,
                                    ShiftTable& shifts);
CollectiveSchedule build_reduce_scatter(const CollectiveCall& call, const ScheduleOptions& options,
                                        ShiftTable& shifts);
CollectiveSchedule build_all_reduce(const CollectiveCall& call, const ScheduleOptions& options,
                                    ShiftTable& shifts);

}  // namespace podsim::collectives
