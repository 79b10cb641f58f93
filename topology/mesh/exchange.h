// Axes of a slice that are alike, and meshes that differ by which of these is called x.
//
// A slice is the same with two of its axes exchanged where they are of one length and wrap alike. A mesh and what such an exchange makes of it
// are one plan: whatever breaks a tie by the order of axes has to begin from the same one of them.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "topology/lattice/lattice.h"

namespace podsim::topology {

struct AxisExchange {
    std::array<std::size_t, kAxes> to{0, 1, 2};  ///< what lay along axis a lies along to[a]

    /// Of a displacement or the lengths of a box.
    [[nodiscard]] Point of(const Point& point) const;
    [[nodiscard]] AxisExchange inverse() const;

    friend bool operator==(const AxisExchange&, const AxisExchange&) = default;
};

/// All that leave the slice as it is, but for that which exchanges nothing. `box`: of a host's chips, which stays as it is too;
/// {1, 1, 1} where it does not matter.
std::vector<AxisExchange> exchanges_of(const Lattice& slice, const Point& box);

/// What lies along a physical axis. Of axes that are alike the first is the least: that of most parts, then the first by the names
/// of logical axes and their sizes.
struct AxisContent {
    /// From the smallest stride to the largest, no two neighbours of one logical axis: its name, and how many of its members.
    std::vector<std::pair<std::string, int>> parts;
    std::vector<std::size_t> positions{};  ///< of each factor in its logical axis

    friend bool operator==(const AxisContent&, const AxisContent&) = default;
    friend std::strong_ordering operator<=>(const AxisContent& one, const AxisContent& other);
};

}  // namespace podsim::topology
