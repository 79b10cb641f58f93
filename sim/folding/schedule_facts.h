// Facts about a schedule that hold for every mirror: the order of its transfers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/workload/schedule.h"

namespace podsim::sim {

/// A hop of a schedule, with the key that decides when it is served among others of its phase.
struct Turn {
    std::uint32_t transfer = 0;
    std::uint32_t hop = 0;
    std::uint32_t at = 0;    ///< its phase and port
    std::uint64_t rank = 0;  ///< the transfer's rank
};

struct ScheduleFacts {
    explicit ScheduleFacts(const Schedule& schedule);

    /// Returns the role's transfers of that phase whose first link is at that port, in the order of
    /// their ranks.
    [[nodiscard]] std::span<const std::uint32_t> begin_at(std::size_t role, std::size_t phase,
                                                          std::size_t port) const {
        return port < ports ? listed(role, phase, port) : std::span<const std::uint32_t>();
    }
    /// Returns the role's joins of that phase, by needs and successors, then in the order of their
    /// ranks.
    [[nodiscard]] std::span<const std::uint32_t> joins_of(std::size_t role,
                                                          std::size_t phase) const {
        return listed(role, phase, ports);
    }

    static constexpr std::uint32_t kNobody = 0xffffffff;

    std::size_t ports;  ///< upper end of its hops' ports
    /// Upper end of all phases, later hops included.
    std::size_t phases = 0;
    std::vector<std::uint32_t> by_rank;  ///< transfers, in the order of their ranks
    std::vector<Turn> turns;             ///< all hops, in that order
    /// [transfer]: the first transfer over links that leads to this join; kNobody if there is none,
    /// or if it is no join.
    std::vector<std::uint32_t> led_to_by;

private:
    [[nodiscard]] std::span<const std::uint32_t> listed(std::size_t role, std::size_t phase,
                                                        std::size_t port) const {
        const std::size_t at = (role * phases + phase) * (ports + 1) + port;
        return std::span(beginning_).subspan(first_[at], first_[at + 1] - first_[at]);
    }

    std::vector<std::uint32_t> beginning_;  ///< transfers, grouped as in first_
    std::vector<std::size_t> first_;        ///< [role][phase][port, then joins], and the end
};

}  // namespace podsim::sim
