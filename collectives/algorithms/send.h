// Send: V bytes from one chip to another, over several routes at once that share no link.
//
// With k disjoint routes of l_1 ... l_k links, latency a of a link and rate r, all routes end
// together at
//     T(k) = (V / r + a (l_1 + ... + l_k)) / k,    route i carrying r (T(k) - l_i a) bytes,
// so for each k the routes of least total length are best; successive shortest paths find them. The
// k with the least T is taken. Small sends use the shortest route alone, large ones also detours.
// Each route's bytes are cut into m = ceil(bytes / cap) messages, cut-through; a route then takes,
// exactly,
//     m tau + l a   (tau = bytes / (m r), rounded up),
//     latency rule `floor`: (l - 1) a + max(m tau, a + d)
// where d < m ps is the delay of the last message by the rounding of the earlier ones.
#pragma once

#include <optional>
#include <vector>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/link_model.h"
#include "collectives/paths/routes.h"

namespace podsim::collectives {

/// Returns the routes of a send, with their shares. Throws sim::InputError if the chips are the
/// same, or if one cannot be reached.
std::vector<Route> send_routes(const CollectiveCall& call, sim::Bytes hop_bytes);

/// Payloads are pieces of block 0. Roles: 0 for all other chips, 1 the sender, 2 the receiver.
CollectiveSchedule build_send(const CollectiveCall& call, const ScheduleOptions& options,
                              ShiftTable& shifts);

/// Returns V, the links of the chip that has fewer, and the links of the shortest route.
EndTraffic send_traffic(const CollectiveCall& call);

/// Returns V over the number of disjoint routes: the capacity of the tightest cut.
sim::Bytes send_bound(const CollectiveCall& call);

/// Returns the time above.
std::optional<sim::Time> send_closed_form(const CollectiveCall& call,
                                          const ScheduleOptions& options, const LinkModel& link);

}  // namespace podsim::collectives
