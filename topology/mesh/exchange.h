// Axes of a slice that are alike, and meshes that differ only in the names of these axes.
//
// A slice is unchanged by an exchange of two axes of equal length that wrap alike. A mesh and its
// image under such an exchange are one plan. So every tie-break by the order of axes must start
// from the same one of the two.
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
    std::array<std::size_t, kAxes> to{0, 1, 2};  ///< axis a becomes axis to[a]

    /// Exchanges a displacement, or the lengths of a box.
    [[nodiscard]] Point of(const Point& point) const;
    [[nodiscard]] AxisExchange inverse() const;

    friend bool operator==(const AxisExchange&, const AxisExchange&) = default;
};

/// Returns all exchanges that preserve the slice, except for the identity. `box`: the chips of a
/// host, which must be preserved too; {1, 1, 1} if it does not matter.
std::vector<AxisExchange> exchanges_of(const Lattice& slice, const Point& box);

/// The factors along a physical axis. Among axes that are alike, the lowest comes first: the one
/// with the most entries, then the first by names and sizes of logical axes.
struct AxisContent {
    /// Logical axes by name and number of members, from the smallest stride to the largest.
    /// Neighbours differ in name.
    std::vector<std::pair<std::string, int>> parts;
    /// Position of each factor in its logical axis.
    std::vector<std::size_t> positions{};

    friend bool operator==(const AxisContent&, const AxisContent&) = default;
    friend std::strong_ordering operator<=>(const AxisContent& one, const AxisContent& other);
};

}  // namespace podsim::topology
