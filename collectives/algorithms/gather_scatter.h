// Gather and scatter: every member's V / n bytes to one member, the root, and from it.
//
// How much can reach the root at once is a flow: of every member's share through the links of the
// group, each at its rate. The least time of such a flow is exact:
//     T = max over sets X of members without the root of   (|X| V / n) / (rate of the links that leave X)
// found by a few largest flows, each of which either carries everything or shows a tighter set. The
// bytes then take the routes of a flow that reaches T: shortest routes if some flow of shortest routes
// does, any otherwise. At the root of a torus or a mesh all its links carry the same.
// A scatter is the reverse. Messages are cut-through and take turns as in shipments.h.
#pragma once

#include "collectives/algorithms/collective_schedule.h"

namespace podsim::collectives {

/// Payload blocks are the ranks of the members whose shares they are.
CollectiveSchedule build_gather(const CollectiveCall& call, const ScheduleOptions& options,
                                ShiftTable& shifts);
CollectiveSchedule build_scatter(const CollectiveCall& call, const ScheduleOptions& options,
                                 ShiftTable& shifts);

/// Of both: (n-1) V / n, the links of the root, and its way to the farthest member.
EndTraffic spread_traffic(const CollectiveCall& call);

/// Bytes that the busiest link carries in the best flow: T times a link's rate.
sim::Bytes spread_bound(const CollectiveCall& call);

}  // namespace podsim::collectives
