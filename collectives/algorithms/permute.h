// Permute: every member sends its V / n bytes to the member `shift` ranks further along its group,
// cyclically.
//
// Bytes take shortest routes, split evenly over ties and orders of the axes (routes.h). Where all members
// move d of L chips forward on a ring, shortest routes load one direction with min(d, L - d) shares and
// leave the other idle. `both-ways` also sends d / L of the bytes the other way round: both directions
// then carry d (L - d) / L, and no routes do better. It does so along those axes for which
//     (busiest link's bytes) / rate + (links of the longest route) x latency
// is least; the busiest link is that of the routes of all members of all groups, which need not move alike.
#pragma once

#include "collectives/algorithms/collective_schedule.h"

namespace podsim::collectives {

/// Whether members that stand alike on lines all move by the same displacement, so that the operation
/// folds as others do. Else some carry over to the next axis while others do not.
bool moves_alike(const CollectiveCall& call);

/// Nothing is sent when the shift is a multiple of the group. Throws sim::InputError beyond 20 million messages.
CollectiveSchedule build_permute(const CollectiveCall& call, const ScheduleOptions& options,
                                 ShiftTable& shifts);

/// A member's share over one link, and the links of the longest shortest route.
EndTraffic permute_traffic(const CollectiveCall& call);

/// What links carry within a slice: every member's share as far as it is moved along each axis, on a ring the shorter way.
LeastCarried permute_carried(const CollectiveCall& call);

/// Bytes that the busiest link carries at the least, whatever the routes: the largest of
///   what a member must receive, over its links in the group;
///   on an unwrapped axis, what crosses between two coordinates, over the links there;
///   on a wrapped axis of length L, for weights p, q of its two directions, the sum over members that
///   move d forward of min(p d, q (L - d)), over (p + q) times the chips: what a shift by d needs is
///   d (L - d) / L of a member's bytes.
sim::Bytes permute_bound(const CollectiveCall& call);

}  // namespace podsim::collectives
