// What is asked of a schedule whatever the mirror: in which order its transfers go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/workload/schedule.h"

namespace podsim::sim {

struct ScheduleFacts {
    ScheduleFacts(const Schedule& schedule, std::size_t ports_of_machine);

    /// The transfers of a role with that phase whose first link is at that port, in the order of their ranks; `ports`:
    /// its joins, first by needs and successors.
    [[nodiscard]] std::span<const std::uint32_t> begin_at(std::size_t role, std::size_t phase,
                                                          std::size_t port) const {
        const std::size_t at = (role * phases + phase) * (ports + 1) + port;
        return std::span(beginning).subspan(first_beginning[at],
                                            first_beginning[at + 1] - first_beginning[at]);
    }

    static constexpr std::uint32_t kNobody = 0xffffffff;

    std::size_t ports;
    std::size_t phases = 0;              ///< all are below it, of later hops too
    std::vector<std::uint32_t> by_rank;  ///< transfers, in the order of their ranks
    /// [transfer]: of joins the first over links that leads to it, otherwise and where there is none kNobody.
    std::vector<std::uint32_t> led_to_by;
    std::vector<std::uint32_t> beginning;      ///< transfers, as begin_at has them
    std::vector<std::size_t> first_beginning;  ///< [role][phase][port and beyond], and the end
};

}  // namespace podsim::sim
