// Metrics of a machine's slices without traffic: links, distances, bisection.
//
// Distances are shortest paths in hops, by breadth-first search over the ICI links (Boost.Graph).
// One source stands for all that a translation along a wrapped axis reaches. On a slice without
// twist, distances add up over axes, so an unwrapped axis costs only a search of its own length.
// Dead links rule out these shortcuts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "topology/graph/machine_graph.h"
#include "topology/lattice/dead_links.h"
#include "topology/lattice/lattice.h"

namespace podsim::topology {

/// Metrics of all slices together; distances and bisection are those of one slice.
struct TopologyMetrics {
    int chips = 0;
    int hosts = 0;
    /// Undirected: a cable with its two directions counts once. Dead links do not count.
    int ici_links = 0;
    std::array<bool, kAxes> wrapped{};
    int diameter_hops = 0;  ///< largest distance between connected chips
    /// Mean over the ordered pairs of connected chips, a chip and itself included.
    double mean_hops = 0;
    /// Undirected ICI links between the halves of the slice: the minimum over the planes that cut
    /// one axis in equal halves; nullopt if no axis has an even length.
    std::optional<int> bisection_links;
    /// Chips that dead links cut off: those outside the largest connected component.
    int chips_cut_off = 0;

    friend bool operator==(const TopologyMetrics&, const TopologyMetrics&) = default;
};

/// Measures the machine. `dead` holds the dead links of the first slice (Places of one slice).
TopologyMetrics measure(const MachineGraph& machine, const DeadLinks& dead = {});

/// Distances over all ordered pairs of chips that reach each other.
struct Distances {
    std::int64_t sum = 0;    ///< hops
    int largest = 0;         ///< hops
    std::int64_t pairs = 0;  ///< a chip and itself included

    friend bool operator==(const Distances&, const Distances&) = default;
};

/// Returns the distances by search on the whole slice, from every chip that no translation maps
/// onto another source.
Distances distances_by_search(const Lattice& slice);
/// Returns the distances by search on each axis alone, for lattices without twist: there distances
/// add up over axes.
Distances distances_by_axes(const Lattice& slice);

}  // namespace podsim::topology
