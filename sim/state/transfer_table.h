// A schedule as the executor reads it: a hop needs one cache line per transfer.
//
// The table is derived once per schedule. A transfer with a single predecessor fires on the
// predecessor's arrival and needs no counter. The others have one byte per place (four if they have
// more than 255 predecessors). The counters of one transfer's places are contiguous, since places
// that do the same at the same time touch them together.
//
// The start of the operation needs no counter either: transfers without predecessors (roots) are
// listed per role. Roots that begin at the same link would all wait there at once, in the order of
// phase and rank. They form a row: only the first is listed and comes to the link. The next comes
// when the first has gone, as if it had been there from the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/workload/machine.h"
#include "sim/workload/schedule.h"

namespace podsim::sim {

/// A transfer's route over links to its destination, and its successors there. The times hold for
/// links of the class `link_class` and are recomputed when a link of another class serves it, so a
/// division is rare if links are alike.
struct alignas(64) TransferPath {
    std::uint64_t rank = 0;
    std::int64_t carried_units = 0;  ///< its bytes, in 1/1024 byte
    Time hold;                       ///< bytes / rate
    Time before;                     ///< bytes_before / rate
    std::uint32_t link_class = 0xffffffff;
    std::uint32_t first_hop = 0;
    std::uint32_t destination_shift = 0;
    std::uint32_t phase = 0;  ///< counted from the schedule's first phase
    std::uint32_t first_edge = 0;
    std::uint32_t edge_count = 0;
    std::uint16_t hop_count = 0;
    std::uint16_t phase_per_hop = 0;
    std::uint8_t reads = 0;
    std::uint8_t writes = 0;
    std::uint8_t copies = 1;

    /// Sets the times for links of class `of_class`.
    void work_out_times(const Transfer& transfer, std::uint32_t of_class, const LinkSpec& link,
                        LatencyRule rule) {
        link_class = of_class;
        hold = round_up(transfer.bytes / link.rate);
        before =
            rule == LatencyRule::additive ? Time{} : round_up(transfer.bytes_before / link.rate);
    }
};
static_assert(sizeof(TransferPath) == 64);

/// The participants of an operation: a role for each place.
struct RolesOfPlaces {
    explicit RolesOfPlaces(const std::vector<std::uint32_t>& roles);

    const std::vector<std::uint32_t>* role_of_place;
    std::vector<std::uint32_t> index_in_role;   ///< [place]: index within its role
    std::vector<std::uint32_t> places_of_role;  ///< [role]
    /// Number of places that are not absent.
    std::size_t present = 0;
};

/// The data needed to fire a transfer. Its path is read only when a link serves it, and can be
/// prefetched until then.
struct FirstHop {
    std::uint32_t transfer = 0;
    std::uint32_t phase = 0;  ///< phase of its path
    std::uint32_t shift = 0;  ///< shift to the link's place
    std::uint32_t port = kJoin;

    /// Stands for a port: the transfer has no hops.
    static constexpr std::uint32_t kJoin = 0xffffffff;
};

/// An edge from a transfer to a successor.
struct Edge {
    static constexpr std::uint64_t kFires = ~std::uint64_t{0};  ///< the only predecessor

    /// Byte offset of the first place's counter, times 2; odd if counters are 4 bytes wide.
    std::uint64_t counter = kFires;
    FirstHop next;
};

struct TransferTable {
    TransferTable(const Schedule& schedule, const RolesOfPlaces& own);

    /// Sets all times for links of the classes class_of_port[port], those of most places.
    void work_out_times(const Schedule& schedule, const std::vector<std::uint32_t>& class_of_port,
                        const std::vector<LinkSpec>& link_classes, LatencyRule rule);
    /// True if the given roles are the schedule's and have counters for their places.
    [[nodiscard]] bool holds(const RolesOfPlaces& roles) const;
    /// Returns the counters of an operation that has not begun.
    [[nodiscard]] const std::vector<std::uint8_t>& counters() const { return counters_; }
    /// Returns the transfers that fire at the start, without those behind another in a row.
    [[nodiscard]] std::span<const FirstHop> roots_of(std::uint32_t role) const {
        return std::span(roots).subspan(first_root[role], first_root[role + 1] - first_root[role]);
    }

    [[nodiscard]] bool has_behind(std::uint32_t transfer) const {
        return !behind.empty() && behind[transfer] != kNone;
    }

    static constexpr std::uint32_t kNone = 0xffffffff;

    std::vector<TransferPath> paths;  ///< [transfer]
    /// [hop]: the last wave to which it has added (waves.h).
    std::vector<std::uint32_t> waves;
    std::vector<Edge> edges;  ///< grouped by transfer
    /// The first of each row, grouped by role.
    std::vector<FirstHop> roots;
    /// [transfer]: the next of its row, or kNone; empty if no row has a second.
    std::vector<std::uint32_t> behind;
    std::vector<std::uint32_t> first_root;  ///< [role], and the end
    /// [role]: links crossed by the transfers of one place and their copies.
    std::vector<std::uint64_t> hops_of_role;
    /// Upper end of all phases, later hops included.
    std::size_t phases = 1;
    /// [role]: number of places that have counters.
    std::vector<std::uint32_t> places_of_role;

private:
    /// Fills roots and counters of each role. Returns [transfer]: Edge::counter of the edges to it.
    std::vector<std::uint64_t> lay_out_roles(const Schedule& schedule);
    void lay_out_paths(const Schedule& schedule, const std::vector<std::uint64_t>& counter);
    [[nodiscard]] FirstHop first_hop_of(const Schedule& schedule, std::uint32_t transfer) const;
    /// Sorts one role's roots, from index `first` on, and keeps the first of each row.
    void line_up(const Schedule& schedule, std::size_t first);

    /// Appends a row of counters for `places` places. Returns Edge::counter of the edges to it.
    std::uint64_t add_counters(std::uint32_t places, std::uint32_t predecessors);

    /// [role]: true if a transfer of it has counters.
    std::vector<bool> counted_;
    std::vector<std::uint8_t> counters_;
    std::uint32_t first_phase_;
};

}  // namespace podsim::sim
