// Gather and scatter: every member's V / n bytes to one member, the root, and from it.
//
// A flow shows how much can reach the root at once: every member's shard goes through the links of
// the group, each at its rate. The least time of this flow is exact:
//     T = max over sets X of members without the root of   (|X| V / n) / (rate of links out of X)
// A few maximum flows find it: each either carries everything or shows a tighter set. The bytes
// then take the routes of a flow that reaches T: shortest routes if a flow of shortest routes
// reaches it, otherwise any. At the root of a torus or a mesh all its links carry the same.
// A scatter is the reverse. Messages are cut-through, with the priorities of shipments.h.
#pragma once

#include "collectives/algorithms/collective_schedule.h"

namespace podsim::collectives {

/// Payload blocks are the ranks of the members that own the shards.
CollectiveSchedule build_gather(const CollectiveCall& call, const ScheduleOptions& options,
                                ShiftTable& shifts);
CollectiveSchedule build_scatter(const CollectiveCall& call, const ScheduleOptions& options,
                                 ShiftTable& shifts);

/// Returns, for both operations, (n-1) V / n, the links of the root, and the length of its route to
/// the farthest member.
EndTraffic spread_traffic(const CollectiveCall& call);

/// Returns the bytes that the busiest link carries in the best flow: T times a link's rate.
sim::Bytes spread_bound(const CollectiveCall& call);

}  // namespace podsim::collectives
