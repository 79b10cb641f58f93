// Schedules of operations whose bytes travel from one member to another on routes that are fixed
// beforehand: cut-through, and without waiting for anything but their priority.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/routes.h"

namespace podsim::collectives {

/// Bytes on one route.
struct Shipment {
    std::uint32_t source = 0;  ///< roles
    std::uint32_t destination = 0;
    std::vector<Leg> legs;
    sim::Bytes bytes;
    /// The block of the bytes; pieces of a block are numbered in the order given.
    int block = 0;
};

/// Cuts every shipment into the fewest equal messages of at most the cap. At a link, messages with
/// more hops left go first; then the earlier; then the earlier shipment, the earlier message and
/// the one that has crossed fewer links. Payloads: `block`, and [low, high) / unit of its messages.
/// `roles` is their number, `role_of_place` as in sim::Schedule. Throws sim::InputError beyond 20
/// million messages.
CollectiveSchedule ship(std::span<const Shipment> shipments, std::uint32_t roles,
                        std::vector<std::uint32_t> role_of_place, const topology::Lattice& slice,
                        sim::Bytes message_cap, ShiftTable& shifts);

/// Returns the least representative of a displacement along wrapped axes, unchanged along others.
/// It is equal for displacements that lead to the same position.
topology::Point reduced(const topology::Lattice& slice, topology::Point displacement);

}  // namespace podsim::collectives
