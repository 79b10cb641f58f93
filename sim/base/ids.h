// Strong indices, so that places, links, tasks and operations cannot be mixed up.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace podsim::sim {

template <class Tag>
struct Id {
    std::uint32_t value = 0;

    constexpr Id() = default;
    constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}
    [[nodiscard]] constexpr std::size_t index() const { return value; }
    friend constexpr auto operator<=>(Id, Id) = default;
};

using PlaceId = Id<struct PlaceTag>;          ///< a simulated point of the machine
using LinkId = Id<struct LinkTag>;            ///< a link of the machine: [place][port]
using TaskId = Id<struct TaskTag>;            ///< a task of a task graph
using OperationId = Id<struct OperationTag>;  ///< one use of a schedule

}  // namespace podsim::sim
