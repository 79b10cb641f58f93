// What the shape of a slice says about it before any traffic: links, distances, bisection.
//
// Distances are shortest paths in hops, by breadth-first search over the links (Boost.Graph). One
// source stands for all that a translation along a wrapped axis reaches; on a slice without twist
// distances add up over axes, so that an unwrapped axis costs a search of its own length only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "topology/lattice/lattice.h"

namespace podsim::topology {

struct TopologyMetrics {
    int chips = 0;
    int hosts = 0;
    int ici_links = 0;  ///< undirected: a cable with its two directions counts once
    std::array<bool, kAxes> wrapped{};
    int diameter_hops = 0;  ///< the largest distance between two chips
    double mean_hops = 0;   ///< over all ordered pairs, a chip and itself included: sum / chips^2
    /// Undirected ICI links between the halves of the slice, the least over the planes that cut one
    /// axis in equal halves; nothing when no axis has an even length.
    std::optional<int> bisection_links;

    friend bool operator==(const TopologyMetrics&, const TopologyMetrics&) = default;
};

/// `host_shape` as ChipSpec::host_shape gives it.
TopologyMetrics measure(const Lattice& slice, const Point& host_shape);

/// Distances over all ordered pairs of chips.
struct Distances {
    std::int64_t sum = 0;  ///< hops
    int largest = 0;       ///< hops

    friend bool operator==(const Distances&, const Distances&) = default;
};

/// Distances by search on the whole slice, from every chip that no translation maps onto another source.
Distances distances_by_search(const Lattice& slice);
/// Distances by search on each axis alone; for lattices without twist, where distances add up over axes.
Distances distances_by_axes(const Lattice& slice);

}  // namespace podsim::topology
