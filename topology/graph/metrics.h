// What the shape of a machine says about its slices before any traffic: links, distances, bisection.
//
// Distances are shortest paths in hops, by breadth-first search over the ICI links (Boost.Graph). One
// source stands for all that a translation along a wrapped axis reaches; on a slice without twist
// distances add up over axes, so that an unwrapped axis costs a search of its own length only. Dead links
// leave no such short cuts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "topology/graph/machine_graph.h"
#include "topology/lattice/dead_links.h"
#include "topology/lattice/lattice.h"

namespace podsim::topology {

/// Of all slices, but for distances and bisection, which are those of one.
struct TopologyMetrics {
    int chips = 0;
    int hosts = 0;
    int ici_links =
        0;  ///< undirected: a cable with its two directions counts once; dead ones do not
    std::array<bool, kAxes> wrapped{};
    int diameter_hops = 0;  ///< the largest distance between two chips that reach each other
    double mean_hops = 0;   ///< over the ordered pairs that do, a chip and itself included
    /// Undirected ICI links between the halves of the slice, the least over the planes that cut one
    /// axis in equal halves; nothing when no axis has an even length.
    std::optional<int> bisection_links;
    int chips_cut_off = 0;  ///< by dead links: those outside the largest part that hangs together

    friend bool operator==(const TopologyMetrics&, const TopologyMetrics&) = default;
};

/// `dead`: links of the first slice (Places of one slice) that carry nothing.
TopologyMetrics measure(const MachineGraph& machine, const DeadLinks& dead = {});

/// Distances over all ordered pairs of chips that reach each other.
struct Distances {
    std::int64_t sum = 0;    ///< hops
    int largest = 0;         ///< hops
    std::int64_t pairs = 0;  ///< a chip and itself included

    friend bool operator==(const Distances&, const Distances&) = default;
};

/// Distances by search on the whole slice, from every chip that no translation maps onto another source.
Distances distances_by_search(const Lattice& slice);
/// Distances by search on each axis alone; for lattices without twist, where distances add up over axes.
Distances distances_by_axes(const Lattice& slice);

}  // namespace podsim::topology
