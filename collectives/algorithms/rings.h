// AllGather, ReduceScatter and AllReduce along rings and lines, as collective_schedule.h describes them.
#pragma once

#include "collectives/algorithms/collective_schedule.h"

namespace podsim::collectives {

/// `call.algorithm` is resolved (catalogue/resolve.h). Throw sim::InputError when the array would need more than 20
/// million messages, and where dead links cannot be gone round.
CollectiveSchedule build_all_gather(const CollectiveCall& call, const ScheduleOptions& options,
                                    ShiftTable& shifts);
CollectiveSchedule build_reduce_scatter(const CollectiveCall& call, const ScheduleOptions& options,
                                        ShiftTable& shifts);
CollectiveSchedule build_all_reduce(const CollectiveCall& call, const ScheduleOptions& options,
                                    ShiftTable& shifts);

}  // namespace podsim::collectives
