// Flows and disjoint ways through a directed graph of numbered nodes: what decides how many bytes can
// travel between chips at once.
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
    std::vector<bool> source_side;  ///< of a least cut, by node: what the source can still reach
};

/// A largest flow from `source` to `sink`, which differ (push-relabel, Boost.Graph).
Flow max_flow(int nodes, std::span<const Arc> arcs, int source, int sink);

/// A way from one node to another: arcs by number, in order.
using Way = std::vector<int>;

/// Ways from `source` to `sink`, no two of which share an arc (capacities are not looked at): entry
/// k - 1 holds k of them with the least number of arcs together, for every k that exists. Successive
/// shortest paths: k ways of least length are found from k - 1 by one shortest path in the residual.
std::vector<std::vector<Way>> disjoint_ways(int nodes, std::span<const Arc> arcs, int source,
                                            int sink);

/// A tree of arcs away from a root that reaches every node: the arc into each node, -1 for the root.
using SpanningTree = std::vector<int>;

/// Spanning trees away from `root`, no two of which share an arc: as many as every node can be reached
/// by disjoint ways (Edmonds 1973), but at most `most`. The proof of Lovász (1976) is the algorithm: a
/// tree takes an arc only if the arcs left over still lead to the arc's head on as many disjoint
/// ways as there are trees to come. Arcs near the root are taken first, so that the first trees are
/// shallow. Empty when a node cannot be reached or there is only one.
std::vector<SpanningTree> disjoint_trees(int nodes, std::span<const Arc> arcs, int root, int most);

}  // namespace podsim::topology
