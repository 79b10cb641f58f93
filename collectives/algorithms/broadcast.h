// Broadcast: V bytes from one member, the root, to all others, pipelined over spanning trees that
// share no link.
//
// Every member can be reached by k disjoint routes, where k is the smallest number of links into a
// member or out of the root. Then k spanning trees away from the root exist without a common link
// (Edmonds). Each carries V / k, and no member can receive faster. With m messages of tau = V / (k
// m r) on each tree and a tree D links deep,
//     T = (m - 1) tau + D (tau + a)       (latency rule `floor`: D max(tau, a))
// exactly, the deepest tree last. One tree of shortest routes with all of V is used instead if it
// takes less time, as for small arrays.
#pragma once

#include <optional>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/link_model.h"

namespace podsim::collectives {

/// Payloads are pieces of block 0.
CollectiveSchedule build_broadcast(const CollectiveCall& call, const ScheduleOptions& options,
                                   ShiftTable& shifts);

/// Returns V, the links of the root, and the length of its route to the farthest member.
EndTraffic broadcast_traffic(const CollectiveCall& call);

/// Returns V over the capacity towards the worst member: the smallest of the links into a member,
/// of those out of the root, and of those that leave the root's coordinate along an axis.
sim::Bytes broadcast_bound(const CollectiveCall& call);

/// Returns the time above, for groups whose neighbours are neighbouring chips.
std::optional<sim::Time> broadcast_closed_form(const CollectiveCall& call,
                                               const ScheduleOptions& options,
                                               const LinkModel& link);

}  // namespace podsim::collectives
