// Schedules of operations whose bytes travel from one member to another on routes that are known
// beforehand, cut-through, and without waiting for anything but their turn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/routes.h"

namespace podsim::collectives {

/// Some bytes on one route.
struct Shipment {
    std::uint32_t source = 0;  ///< roles
    std::uint32_t destination = 0;
    std::vector<Leg> legs;
    sim::Bytes bytes;
    int block =
        0;  ///< what the bytes are part of; pieces of a block are numbered in the order given
};

/// Every shipment cut into the fewest equal messages of at most the cap. At a link, messages with
/// more hops to go are first; then the earlier; then the earlier shipment, the earlier message and the
/// one that has crossed fewer links. Payloads: `block`, and [low, high) / unit of its messages.
/// `roles` is their number, `role_of_place` as in sim::Schedule. Throws sim::InputError beyond 20
/// million messages.
CollectiveSchedule ship(std::span<const Shipment> shipments, std::uint32_t roles,
                        std::vector<std::uint32_t> role_of_place, const topology::Lattice& slice,
                        sim::Bytes message_cap, ShiftTable& shifts);

/// The least representative of a displacement along wrapped axes, as it is along others: equal for
/// displacements that lead to the same place.
topology::Point reduced(const topology::Lattice& slice, topology::Point displacement);

}  // namespace podsim::collectives
