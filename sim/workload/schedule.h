// A schedule: the transfers of one operation, as every place of a role performs them.
//
// A transfer fires when its `needs` are met: one for the start of the operation at its own place,
// and one for each arrival or join that names it as a successor. It then crosses its hops in order.
// Hops are cut-through. The next link may start when the head arrives (start + latency). It is held
// until max(start + b/r, arrival of the last byte); the last byte arrives at the end on the link
// before + that link's latency. Under LatencyRule::floor, whose latency overlaps the transfer, it
// is held until max(start + b/r, end on the link before). On arrival, each successor at the
// destination place has one need less. A transfer without hops is a join: it fires its successors
// at its own place at once.
//
// An operation ends at a place when it has started there and all its arrivals have come.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/quantity.h"

namespace podsim::sim {

/// The link `port` of the place at `shift` from the transfer's source.
struct Hop {
    std::uint32_t shift = 0;
    std::uint32_t port = 0;

    friend bool operator==(const Hop&, const Hop&) = default;
};

struct Transfer {
    std::uint32_t first_hop = 0;
    std::uint32_t hop_count = 0;
    std::uint32_t destination_shift = 0;
    std::uint32_t first_successor = 0;
    std::uint32_t successor_count = 0;
    /// The start of the operation, and every predecessor.
    std::uint32_t needs = 1;
    /// Earlier phases of the same operation go first.
    std::uint32_t phase = 0;
    /// Added at every hop; with 1, transfers with more hops to go come first.
    std::uint32_t phase_per_hop = 0;
    /// Number of times that its bytes are read from the source's memory, and read or written at the
    /// destination's.
    std::uint8_t reads = 1;
    std::uint8_t writes = 1;
    /// 1 plus the number of equal transfers of the same place on links that are not simulated
    /// (sim/folding).
    std::uint8_t copies = 1;
    /// Below 2^40: the order among equals, unique at a link (with the hop).
    std::uint64_t rank = 0;
    Bytes bytes;
    /// Bytes before it in the same step, for LatencyRule::floor.
    Bytes bytes_before;
};

struct Role {
    std::uint32_t first_transfer = 0;
    std::uint32_t transfer_count = 0;
    /// Transfers that end at a place of this role.
    std::uint32_t arrivals = 0;

    friend bool operator==(const Role&, const Role&) = default;
};

/// Stands for a role: the place does not participate, has no task and gets no transfers.
inline constexpr std::uint32_t kAbsent = 0xffffffff;

struct Schedule {
    std::vector<Role> roles;
    std::vector<Transfer> transfers;  ///< grouped by role
    std::vector<Hop> hops;
    /// Transfers of the destination's role.
    std::vector<std::uint32_t> successors;
    /// Each place's role, or kAbsent. Empty: every operation has a placement of its own
    /// (task_graph.h).
    std::vector<std::uint32_t> role_of_place;
};

}  // namespace podsim::sim
