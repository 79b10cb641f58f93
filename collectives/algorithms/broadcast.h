// Broadcast: V bytes from one member, the root, to all others, pipelined over spanning trees that
// share no link.
//
// Every member can be reached by k disjoint ways, k the fewest links into a member or out of the root;
// then there are k spanning trees away from the root without a common link (Edmonds), and each carries
// V / k: no member can receive faster. With m messages of tau = V / (k m r) on each tree and a tree
// D links deep,
//     T = (m - 1) tau + D (tau + a)       (latency rule `floor`: D max(tau, a))
// exactly, the deepest tree last. Where the time of one tree of shortest ways, with all of V, is less,
// as for small arrays, it is taken instead.
#pragma once

#include <optional>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/link_model.h"

namespace podsim::collectives {

/// Payloads: pieces of block 0.
CollectiveSchedule build_broadcast(const CollectiveCall& call, const ScheduleOptions& options,
                                   ShiftTable& shifts);

/// V, the links of the root, and its way to the farthest member.
EndTraffic broadcast_traffic(const CollectiveCall& call);

/// V over what can reach the worst member at once: the least of the links into a member, of those out of
/// the root, and of those that leave the root's coordinate along an axis.
sim::Bytes broadcast_bound(const CollectiveCall& call);

/// The time above, for groups whose neighbours are neighbouring chips.
std::optional<sim::Time> broadcast_closed_form(const CollectiveCall& call,
                                               const ScheduleOptions& options,
                                               const LinkModel& link);

}  // namespace podsim::collectives
