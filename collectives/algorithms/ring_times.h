// Exact times of AllGather, ReduceScatter and AllReduce along one factor of neighbouring chips,
// alone.
//
// The block b = V/n is cut into m messages of tau = b/(m r) seconds (each rounded up to a
// picosecond). There are J steps, one of which, the edge step of a two-way ring of even length,
// moves half a block:
//   J = floor(n/2) two-way ring,  n-1 one-way ring or line
//   e = time of the edge step: (m/2) tau (half a block when m = 1) for even two-way rings,
//       else m tau
//   AllGather and ReduceScatter:
//     additive latency a:   T = (J-1) max(m tau, tau + a) + e + a
//       either the link never idles, or each step waits for the first message of the step before.
//     latency rule `floor`: T = (J-1) max(m tau, a) + max(e, a + d)
//       d: picoseconds by which the edge step's last message starts late because the ones before it
//       were each rounded up; 0 when they are whole.
//     The edge step is the last of a gather and the first of a reduction. There its messages go
//     round once more than the other half of the block, which fills the links between their
//     rounds: the same T.
//   AllReduce by one-shot: the AllGather of n arrays of V, so b = V.
//   AllReduce on a line by reduce-broadcast: reduce_broadcast.h.
//   AllReduce on a ring: ReduceScatter, then AllGather. On a line their times overlap: no
//     closed form.
#pragma once

#include <optional>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/link_model.h"

namespace podsim::collectives {

/// Returns the time of an AllGather or ReduceScatter; nothing for groups of several factors or
/// strided ones.
std::optional<sim::Time> time_once(const CollectiveCall& call, const ScheduleOptions& options,
                                   const LinkModel& link);

/// Returns the time of an AllReduce; also nothing on lines as ReduceScatter then AllGather.
std::optional<sim::Time> time_twice(const CollectiveCall& call, const ScheduleOptions& options,
                                    const LinkModel& link);

}  // namespace podsim::collectives
