// Permute: every member sends its V / n bytes to the member `shift` ranks further along its group,
// cyclically.
//
// Bytes take shortest routes, split evenly over ties and orders of the axes (routes.h). If all
// members move d of L chips forward on a ring, shortest routes load one direction with min(d, L -
// d) shards and leave the other idle. `both-ways` also sends d / L of the bytes in the other
// direction: both then carry d (L - d) / L, and no routes do better. It does so along those axes
// for which
//     (busiest link's bytes) / rate + (links of the longest route) x latency
// is least. The busiest link counts the routes of all members of all groups, which need not move
// alike.
#pragma once

#include "collectives/algorithms/collective_schedule.h"

namespace podsim::collectives {

/// True if members at the same positions on lines all move by the same displacement, so that the
/// operation folds as others do. Otherwise only a few of them carry over to the next axis.
bool moves_alike(const CollectiveCall& call);

/// Sends nothing if the shift is a multiple of the group. Throws sim::InputError beyond 20 million
/// messages.
CollectiveSchedule build_permute(const CollectiveCall& call, const ScheduleOptions& options,
                                 ShiftTable& shifts);

/// Returns a member's shard over one link, and the links of the longest shortest route.
EndTraffic permute_traffic(const CollectiveCall& call);

/// Returns what links carry within a slice: every member's shard moves its distance along each
/// axis, on a ring in the shorter direction.
LeastCarried permute_carried(const CollectiveCall& call);

/// Returns a lower bound of the busiest link's bytes for any routes: the largest of
///   the bytes that a member must receive, over its links in the group;
///   on an unwrapped axis, the bytes that cross between two coordinates, over the links there;
///   on a wrapped axis of length L, for weights p, q of its two directions, the sum over members
///   that move d forward of min(p d, q (L - d)), over (p + q) times the chips: a shift by d needs
///   d (L - d) / L of a member's bytes.
sim::Bytes permute_bound(const CollectiveCall& call);

}  // namespace podsim::collectives
