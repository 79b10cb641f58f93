// AllReduce with lines among the factors: reduce along spanning trees and broadcast back,
// pipelined.
//
// A tree joins all members along its first factor to one position on it (its spine), those there
// along the next factor, and so on. Partial sums go towards the root in one direction of its links,
// results back in the other. Along a line the spine is any position. Along a ring every member is
// the spine for an n-th of the array (two-way ReduceScatter and AllGather; for even n half of it
// reaches the opposite member in each direction). With the fraction w(o) of the array on trees that
// take the factors in order o, spread evenly over the spines, a link of factor f carries in each
// direction
//     V x sum over o of w(o) x (1, on a ring (n-1)/n) / (product of the lengths before f) x stride.
// All trees use N - 1 links in each direction for N members. If the fractions make all factors
// equal, every link carries 2(N-1)V / (links of the group): the physical bound. The spine of the
// last factor is the middle, since no position loads a link more than another.
//
// On one line it is one tree, rooted in the middle. With m messages of tau = V/(m r), and H the
// distance from the middle to the farther end,
//   T = (m - 1) tau + 2 H (tau + a)          (latency rule `floor`: max(tau, a) for tau + a)
// exactly: messages follow each other tau apart and no two meet in one direction of a link.
#pragma once

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/link_model.h"

namespace podsim::collectives {

/// Builds the schedule on a group that is no whole twisted slice. In payloads phase 0 reduces and
/// phase 1 gathers; [low, high) / unit is the fraction of the bytes of tree `part`. `block` is the
/// sender's position on the rings: sum over ring factors of its distance ahead of the root x
/// product of the ring lengths before. Throws sim::InputError beyond 20 million messages.
CollectiveSchedule build_reduce_broadcast(const CollectiveCall& call,
                                          const ScheduleOptions& options, ShiftTable& shifts);

/// Returns the time above, on a group of one line of neighbouring chips.
sim::Time reduce_broadcast_on_line(const CollectiveCall& call, const ScheduleOptions& options,
                                   const LinkModel& link);

}  // namespace podsim::collectives
