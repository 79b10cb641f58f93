// Flows and disjoint paths through a directed graph of numbered nodes: they decide how many bytes
// can travel between chips at once.
//
// Pure functions of whole numbers: the same answer on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace podsim::topology {

struct Arc {
    int from = 0;
    int to = 0;
    std::int64_t capacity = 1;
};

struct Flow {
    std::int64_t value = 0;
    std::vector<std::int64_t> on_arc;
    /// [node]: true on the source's side of a minimum cut, i.e. if the source can still reach it.
    std::vector<bool> source_side;
};

/// Returns a maximum flow from `source` to `sink`, which differ (push-relabel, Boost.Graph).
Flow max_flow(int nodes, std::span<const Arc> arcs, int source, int sink);

/// A path from one node to another: arcs by number, in order.
using Way = std::vector<int>;

/// Returns paths from `source` to `sink`, no two of which share an arc; capacities are ignored.
/// Entry k - 1 holds k paths with the fewest arcs in total, for every k that exists. The algorithm
/// is successive shortest paths: k shortest paths follow from k - 1 by one shortest path in the
/// residual.
std::vector<std::vector<Way>> disjoint_ways(int nodes, std::span<const Arc> arcs, int source,
                                            int sink);

/// A tree of arcs away from a root that reaches every node: the arc into each node, -1 for the
/// root.
using SpanningTree = std::vector<int>;

/// Returns spanning trees away from `root`, no two of which share an arc: as many as there are
/// disjoint paths to every node (Edmonds 1973), but at most `most`.
///
/// The proof of Lovász (1976) is the algorithm: a tree takes an arc only if the remaining arcs
/// still lead to the arc's head on as many disjoint paths as there are trees to come. Arcs near the
/// root are taken first, so that the first trees are shallow. Empty if a node cannot be reached or
/// there is only one.
std::vector<SpanningTree> disjoint_trees(int nodes, std::span<const Arc> arcs, int root, int most);

}  // namespace podsim::topology
