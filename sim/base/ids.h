// Strong indices: a place is not a server, a task not a transfer.
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
using ServerId = Id<struct ServerTag>;        ///< a link server
using TaskId = Id<struct TaskTag>;            ///< a task of a task graph
using OperationId = Id<struct OperationTag>;  ///< one use of a schedule (one collective of a step)

}  // namespace podsim::sim
