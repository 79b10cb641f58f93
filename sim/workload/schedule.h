// A schedule: the transfers that carry out one operation, as every place of a role performs them.
//
// A transfer fires when its `needs` are met: one for the start of the operation at its own place, one
// for each arrival or join that names it as a successor. It then crosses its hops in turn. Hops are
// cut-through: the next link may start when the head arrives (start + latency) and is held until
// max(start + b/r, arrival of the last byte: end on the link before + that link's latency); under
// LatencyRule::floor, whose latency overlaps the transfer, until max(start + b/r, end on the link before).
// On arrival at the destination place, the transfer's successors there each have one need less. A transfer
// without hops is a join: it fires its successors at its own place at once.
//
// An operation has ended at a place when it has started there and all its arrivals have come.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/quantity.h"

namespace podsim::sim {

/// The link `port` of the place found at `shift` from the transfer's source.
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
    std::uint32_t needs = 1;  ///< the start of the operation, and every predecessor
    std::uint32_t phase = 0;  ///< earlier phases of the same operation go first
    std::uint32_t phase_per_hop =
        0;  ///< added at every hop: 1 puts those with more hops to go first
    /// How often its bytes are read from the source's memory, and read or written at the destination's.
    std::uint8_t reads = 1;
    std::uint8_t writes = 1;
    /// Itself and those that do the same at the same place on links that are not simulated (sim/mirror).
    std::uint8_t copies = 1;
    std::uint64_t rank = 0;  ///< below 2^40: the turn among equals, unique at a link (with the hop)
    Bytes bytes;
    Bytes bytes_before;  ///< of the same step, for LatencyRule::floor
};

struct Role {
    std::uint32_t first_transfer = 0;
    std::uint32_t transfer_count = 0;
    std::uint32_t arrivals = 0;  ///< transfers that end at a place of this role

    friend bool operator==(const Role&, const Role&) = default;
};

/// In place of a role: the place takes no part, has no task and gets no transfers.
inline constexpr std::uint32_t kAbsent = 0xffffffff;

struct Schedule {
    std::vector<Role> roles;
    std::vector<Transfer> transfers;  ///< grouped by role
    std::vector<Hop> hops;
    std::vector<std::uint32_t> successors;  ///< transfers of the destination's role
    /// Each place's role, or kAbsent. Empty: every operation has a placement of its own (task_graph.h).
    std::vector<std::uint32_t> role_of_place;
};

}  // namespace podsim::sim
