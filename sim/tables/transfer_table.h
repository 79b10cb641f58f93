// A schedule as the executor reads it: what a hop needs, in one cache line per transfer.
//
// Derived once per schedule. A transfer with a single predecessor fires when that has arrived and needs no
// counter; the others have one byte per place (four where they have more than 255 predecessors), the places
// of one transfer side by side, since places that do the same thing at the same time touch them together.
// The start of the operation is no counter either: transfers without predecessors (roots) are listed per role. Those
// that begin at the same link would all wait there at once, in the order of phase and rank: they are a row, of which
// only the first is listed and comes to the link; the next comes when it has gone, as if it had always been there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/workload/machine.h"
#include "sim/workload/schedule.h"

namespace podsim::sim {

/// A transfer's way over links to its destination, and what follows it there. The times are those on links of the class `link_class`, worked out when a link of
/// another class serves it; so a division is rare where links are alike.
struct alignas(64) TransferPath {
    std::uint64_t rank = 0;
    std::int64_t carried_units = 0;  ///< its bytes, in 1/1024 byte
    Time hold;                       ///< bytes / rate
    Time before;                     ///< bytes_before / rate
    std::uint32_t link_class = 0xffffffff;
    std::uint32_t first_hop = 0;
    std::uint32_t destination_shift = 0;
    std::uint32_t phase = 0;  ///< counted from the schedule's first
    std::uint32_t first_edge = 0;
    std::uint32_t edge_count = 0;
    std::uint16_t hop_count = 0;
    std::uint16_t phase_per_hop = 0;
    std::uint8_t reads = 0;
    std::uint8_t writes = 0;
    std::uint8_t copies = 1;

    /// On links of that class.
    void work_out_times(const Transfer& transfer, std::uint32_t of_class, const LinkSpec& link,
                        LatencyRule rule) {
        link_class = of_class;
        hold = round_up(transfer.bytes / link.rate);
        before =
            rule == LatencyRule::additive ? Time{} : round_up(transfer.bytes_before / link.rate);
    }
};
static_assert(sizeof(TransferPath) == 64);

/// Who takes part in an operation: a role for each place.
struct RolesOfPlaces {
    explicit RolesOfPlaces(const std::vector<std::uint32_t>& roles);

    const std::vector<std::uint32_t>* role_of_place;
    std::vector<std::uint32_t> index_in_role;   ///< [place]: among the places of its role
    std::vector<std::uint32_t> places_of_role;  ///< [role]
    std::size_t present = 0;                    ///< places that are not absent
};

/// What it takes to fire a transfer, so that its path is read when a link serves it, and can have been asked for.
struct FirstHop {
    std::uint32_t transfer = 0;
    std::uint32_t phase = 0;  ///< its path's
    std::uint32_t shift = 0;  ///< to the link's place
    std::uint32_t port = kJoin;

    static constexpr std::uint32_t kJoin = 0xffffffff;  ///< no port: it has no hops
};

/// From a transfer to a successor.
struct Edge {
    static constexpr std::uint64_t kFires = ~std::uint64_t{0};  ///< the only predecessor

    std::uint64_t counter =
        kFires;  ///< byte of the first place's counter, times 2; odd: 4 bytes wide
    FirstHop next;
};

struct TransferTable {
    TransferTable(const Schedule& schedule, const RolesOfPlaces& own);

    /// For links as [port] says by their class: those of most places.
    void work_out_times(const Schedule& schedule, const std::vector<std::uint32_t>& class_of_port,
                        const std::vector<LinkSpec>& link_classes, LatencyRule rule);
    /// Whether the given roles are the schedule's and have counters for their places.
    [[nodiscard]] bool holds(const RolesOfPlaces& roles) const;
    /// The counters of an operation that has not begun.
    [[nodiscard]] const std::vector<std::uint8_t>& counters() const { return counters_; }
    /// Transfers that fire at the start, but for those behind them.
    [[nodiscard]] std::span<const FirstHop> roots_of(std::uint32_t role) const {
        return std::span(roots).subspan(first_root[role], first_root[role + 1] - first_root[role]);
    }

    [[nodiscard]] bool has_behind(std::uint32_t transfer) const {
        return !behind.empty() && behind[transfer] != kNone;
    }

    static constexpr std::uint32_t kNone = 0xffffffff;

    std::vector<TransferPath> paths;   ///< [transfer]
    std::vector<std::uint32_t> waves;  ///< [hop]: the last to which it has added (waves.h)
    std::vector<Edge> edges;           ///< grouped by transfer
    std::vector<FirstHop> roots;       ///< the first of each row, grouped by role
    std::vector<std::uint32_t>
        behind;  ///< [transfer]: the next of its row, or kNone; empty: no row has a second
    std::vector<std::uint32_t> first_root;  ///< [role], and the end
    std::vector<std::uint64_t>
        hops_of_role;  ///< [role]: links crossed by the transfers of one place and their copies
    std::size_t phases = 1;                     ///< below this lie all, of later hops too
    std::vector<std::uint32_t> places_of_role;  ///< [role]: for as many there are counters

private:
    /// Roots and counters of each role. [transfer]: Edge::counter of those that lead to it.
    std::vector<std::uint64_t> lay_out_roles(const Schedule& schedule);
    void lay_out_paths(const Schedule& schedule, const std::vector<std::uint64_t>& counter);
    [[nodiscard]] FirstHop first_hop_of(const Schedule& schedule, std::uint32_t transfer) const;
    /// Of one role's roots, from `first` on: sorts them, and keeps the first of each row.
    void line_up(const Schedule& schedule, std::size_t first);

    /// A row of counters for so many places behind those that there are: what leads to it as edges name it.
    std::uint64_t add_counters(std::uint32_t places, std::uint32_t predecessors);

    std::vector<bool> counted_;  ///< [role]: some transfer of it has counters
    std::vector<std::uint8_t> counters_;
    std::uint32_t first_phase_;
};

}  // namespace podsim::sim
