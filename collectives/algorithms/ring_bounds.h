// Lower bounds of AllGather, ReduceScatter and AllReduce of V bytes among n members, and an upper
// bound of those on rings.
#pragma once

#include <optional>
#include <vector>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/link_model.h"
#include "collectives/vocabulary/algorithm.h"
#include "collectives/vocabulary/collective_call.h"
#include "collectives/vocabulary/group.h"
#include "sim/base/time.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

///   AllGather      receive (n-1)V/n   send V/n         mean (n-1)V/n
///   ReduceScatter  receive V/n        send (n-1)V/n    mean (n-1)V/n
///   AllReduce      receive V          send V           mean 2(n-1)V/n
/// (AllReduce: each of the V bytes is reduced over n-1 links and spread over n-1.)
LeastTraffic all_gather_traffic(double n, sim::Bytes v);
LeastTraffic reduce_scatter_traffic(double n, sim::Bytes v);
LeastTraffic all_reduce_traffic(double n, sim::Bytes v);

/// Returns the bytes on the busiest link: the largest of every member's least bytes over its links,
/// the mean bytes over the mean links, every planar cut's bytes over the links that cross it, and
/// the load of trees that join members apart from each other (link_load.h; not on twisted slices).
/// With one factor per axis the last is (n-1)V/n over the sum of links / stride.
sim::Bytes all_gather_bound(const CollectiveCall& call);
sim::Bytes reduce_scatter_bound(const CollectiveCall& call);
sim::Bytes all_reduce_bound(const CollectiveCall& call);

/// Lower bounds of an algorithm: hops one after the other, and the busiest link's bytes. With F the
/// factors, V w the bytes of a part and N members, the link of factor f carries over the parts
///   AllGather, ReduceScatter   sum of V w / N x (members before f) x (f - 1)
///                              / (2 on a ring, 1 on a line)
///   AllReduce                  twice that on a ring; V w / N x (members before f) x f on a line,
///                              whose halves fill opposite directions
///   one-shot                   sum of V w x (f - 1) / (2 on a ring, 1 on a line)
/// times the stride, whose groups share the link.
struct AlgorithmLoad {
    int hops = 0;
    sim::Bytes bytes{};
};
/// The first is for an AllGather or ReduceScatter, the second for an AllReduce.
AlgorithmLoad load_once(const CollectiveCall& call);
AlgorithmLoad load_twice(const CollectiveCall& call);

/// Returns an upper bound of the time of an AllGather or ReduceScatter that runs alone and from its
/// start. It holds if every member is on rings, so that all do the same at the same time, and no
/// link is dead. Returns nothing for others, and for algorithms that are not of rings. The phases
/// have priority in their order (collective_schedule.h). With T_i the time at which the last
/// message of phases 0 .. i arrives,
///   T_i <= T_(i-1) + max over factors f of [t_if + k_if (latency + R_if)]
/// with t_if the time that phase i puts on a link along f, k_if the hops of a message and of its
/// successors, in one direction round f, and R_if the longest time that a message of a later phase
/// holds a link along f. Proof: take the last message to arrive, and before it the one that it
/// waited for, back to T_(i-1). All of them use links of one port, which are alike. While one of
/// them waits, its link serves others of phase i, none of them twice, except for a message that a
/// later phase had begun.
std::optional<sim::Time> latest_end(const CollectiveCall& call, const ScheduleOptions& options,
                                    const LinkModel& link);

/// Returns what a member has when its AllGather begins along each factor of a group, as a fraction
/// of V over all parts: w / N x (members before f). With f members, it hands (f - 1) times that to
/// others along the factor, or gets as much; in a ReduceScatter the reverse.
std::vector<double> held_along(const topology::Lattice& slice, const Group& group,
                               Algorithm algorithm);

}  // namespace podsim::collectives
