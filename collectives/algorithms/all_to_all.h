// AllToAll: every member sends V / n^2 bytes to every other member by shortest routes.
//
// Between two members the bytes are split evenly over the minimal routes (routes.h: all orders of
// the axes, ties in both directions). Each fraction is cut into messages of at most the cap, and
// messages are cut-through over their hops. At every link, messages with more hops left go first.
// Ties are broken by the earlier arrival, then by the displacement (numbered as the roles first
// meet them, the first factor of the group fastest), then by the route (minimal displacements by x,
// y, z, each with its axis orders), then by the message and the hop. One-way uses only the positive
// direction of rings, in every order of the axes.
//
// Members may be unequal (an expert axis whose ranks take unequal numbers of tokens): every other
// member sends V l_j / n^2 bytes to the member j of load l_j, and the loads add up to n. With
// `returning`, the member j sends as much to every other. Every member is then a role of its own. A
// member of load zero is sent no messages and ends when it begins; with `returning`, it only
// receives.
//
// A member in another slice, at any position there, is reached directly on the machine graph's
// route (topology/graph/machine_routes.h). These displacements are numbered after those within the
// slice, by the rank of the slice, the chip's own position first. Chips of one host break the
// remaining ties by their index in the host.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/roles.h"
#include "collectives/vocabulary/collective_call.h"

namespace podsim::collectives {

/// Returns the roles of an AllToAll. Every member is a role if the members are unequal.
Roles roles_of_all_to_all(const CollectiveCall& call);

class MemberLoads {
public:
    MemberLoads(const CollectiveCall& call, const Roles& roles);

    /// Returns the load of a pair over the mean of all pairs.
    [[nodiscard]] double between(std::uint32_t from, std::uint32_t to) const {
        return of_role_.empty() ? 1 : of_role_[returning_ ? from : to];
    }
    [[nodiscard]] double most() const;

private:
    std::vector<double> of_role_;
    bool returning_;
};

/// Returns the schedule. Payloads are left empty, since a transfer is the bytes from its source to
/// its destination. Throws sim::InputError beyond 20 million messages, and for unequal members of
/// several slices.
CollectiveSchedule build_all_to_all(const CollectiveCall& call, const ScheduleOptions& options,
                                    ShiftTable& shifts);

/// Each member receives and sends (n-1) V / n^2.
LeastTraffic all_to_all_traffic(double n, sim::Bytes v);

/// Returns what links carry within a slice. Take an axis with K of the n members, at coordinates c.
/// A line of chips along it carries V w(c') / (n K) bytes from c to c', over |c - c'| links; on a
/// ring, over the shorter direction. The weight w(c') is what members at c' take over the mean;
/// with `returning`, w(c) is what members at c give. A route along several axes is no longer than
/// these distances together, since no axis has a shorter direction.
LeastCarried all_to_all_carried(const CollectiveCall& call);

/// Bytes on the busiest link of an AllToAll within a slice if routes are minimal and evenly spread.
sim::Bytes busiest_link(const CollectiveCall& call);

}  // namespace podsim::collectives
