// AllToAll: every member sends every other its V / n^2 bytes, by shortest routes.
//
// Between two members the bytes are split evenly over the minimal routes (routes.h; all orders of the
// axes, ties both ways), each share cut into messages of at most the cap. Messages are cut-through
// over their hops; at every link those with more hops to go are first. One-way: only the positive
// direction of rings, in every order of the axes. Among messages with as many hops to go: the earlier arrival;
// then the displacement, numbered as the roles first meet them (the first factor of the group fastest); the route
// (minimal displacements by x, y, z, each with its orders of the axes in turn); the message; the hop.
//
// Unequal members: to the member j of load l_j go V l_j / n^2 bytes of every other, where the loads add up to n (an expert
// axis whose ranks take unequal numbers of tokens); returning, from it to every other. Every member is then a role of
// its own. A load of zero sends no messages: that member ends when it begins, or, returning, only receives.
//
// A member in another slice is reached straight away, on the machine graph's route
// (topology/graph/machine_routes.h), whatever its place in its slice. These displacements are numbered after those within the slice, rank after rank of the slices,
// the chip's own place first; where all is equal chips of one host go by their index in it.
#pragma once

#include "collectives/algorithms/collective_schedule.h"

namespace podsim::collectives {

/// The schedule; payloads are left empty, since a transfer is the bytes from its source to its
/// destination. Throws sim::InputError beyond 20 million messages, and for unequal members of several slices.
CollectiveSchedule build_all_to_all(const CollectiveCall& call, const ScheduleOptions& options,
                                    ShiftTable& shifts);

/// Each member receives and sends (n-1) V / n^2.
LeastTraffic all_to_all_traffic(double n, sim::Bytes v);

/// Within a slice. Along an axis with K of the n members at coordinates c a line of chips carries V w(c') / (n K) from c to c', where w is
/// what members there take (returning: c, give), over the mean: as far as |c - c'|, on a ring the shorter way. On routes of
/// several axes none is longer than these together, since along each there is no shorter way.
LeastCarried all_to_all_carried(const CollectiveCall& call);

/// Bytes on the busiest link of an AllToAll within a slice when routes are minimal and evenly spread.
sim::Bytes busiest_link(const CollectiveCall& call);

}  // namespace podsim::collectives
