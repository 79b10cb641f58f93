// Flows and disjoint routes, on graphs small enough to check by eye.
#include "topology/graph/flow.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include <boost/graph/iteration_macros.hpp>

#include "topology/graph/machine_graph.h"

namespace podsim::topology {
namespace {

std::vector<Arc> arcs_of(const Lattice& lattice) {
    std::vector<Arc> arcs;
    const MachineGraph graph = torus_graph(lattice);
    BGL_FORALL_EDGES(link, graph, MachineGraph) {
        arcs.push_back(
            {static_cast<int>(source(link, graph)), static_cast<int>(target(link, graph)), 1});
    }
    return arcs;
}

// Flow goes from 0 to 3 by 1 (2, then 5) and by 2 (4, then 1), and from 1 to 2 (9): 2 + 1; the
// smallest cut is 0-1 and 2-3.
TEST(Flow, LargestAndItsCut) {
    const std::vector<Arc> arcs{{0, 1, 2}, {1, 3, 5}, {0, 2, 4}, {2, 3, 1}, {1, 2, 9}};
    const Flow flow = max_flow(4, arcs, 0, 3);
    EXPECT_EQ(flow.value, 3);
    EXPECT_EQ(flow.on_arc[0] + flow.on_arc[2], 3);
    EXPECT_EQ(flow.source_side, (std::vector<bool>{true, false, true, false}));
}

// The shortest route 0 1 2 3 blocks both others; two disjoint routes give its middle back.
TEST(Flow, DisjointWaysGiveArcsBack) {
    const std::vector<Arc> arcs{{0, 1}, {1, 2}, {2, 3}, {0, 4}, {4, 5},
                                {5, 2}, {1, 6}, {6, 7}, {7, 3}};
    const auto ways = disjoint_ways(8, arcs, 0, 3);
    ASSERT_EQ(ways.size(), 2U);
    EXPECT_EQ(ways[0], (std::vector<Way>{{0, 1, 2}}));
    ASSERT_EQ(ways[1].size(), 2U);
    EXPECT_EQ(ways[1][0].size() + ways[1][1].size(), 8U);
}

void expect_spanning(const Lattice& lattice, int root, std::size_t count) {
    const std::vector<Arc> arcs = arcs_of(lattice);
    const auto trees = disjoint_trees(lattice.size(), arcs, root, 6);
    ASSERT_EQ(trees.size(), count);
    std::set<int> used;
    for (const SpanningTree& tree : trees) {
        for (int node = 0; node < lattice.size(); ++node) {
            int at = node;
            for (int steps = 0; at != root; ++steps) {
                ASSERT_LT(steps, lattice.size());
                const int arc = tree[static_cast<std::size_t>(at)];
                ASSERT_GE(arc, 0);
                ASSERT_EQ(arcs[static_cast<std::size_t>(arc)].to, at);
                at = arcs[static_cast<std::size_t>(arc)].from;
            }
            const int into = tree[static_cast<std::size_t>(node)];
            EXPECT_TRUE(node == root || used.insert(into).second) << "a link in two trees";
        }
    }
}

/// There are as many trees as the member with the fewest links has (2 an axis on tori, 1 an axis at
/// corners), or as an axis has links from one coordinate to the next.
TEST(Flow, DisjointTreesOfBoxes) {
    for (int shape = 1; shape < 64; ++shape) {
        for (unsigned wrapped = 0; wrapped < 8; ++wrapped) {
            Lattice lattice;
            lattice.lengths = {1 + shape / 16, 1 + shape / 4 % 4, 1 + shape % 4};
            std::size_t fewest = 0;
            for (std::size_t axis = 0; axis < kAxes; ++axis) {
                lattice.wrapped[axis] = (wrapped >> axis & 1U) != 0;
                if (lattice.lengths[axis] > 1) {
                    fewest += lattice.wrapped[axis] ? 2 : 1;
                }
            }
            // Two links join the halves of a wrapped axis of length 2, which is a separate cut.
            for (std::size_t axis = 0; axis < kAxes; ++axis) {
                if (const int length = lattice.lengths[axis]; length > 1) {
                    const int lines = lattice.size() / length;
                    fewest = std::min(fewest, static_cast<std::size_t>(
                                                  lattice.wrapped[axis] ? 2 * lines : lines));
                }
            }
            for (const int root : {0, lattice.size() / 2, lattice.size() - 1}) {
                expect_spanning(lattice, root, fewest);
                ASSERT_FALSE(::testing::Test::HasFailure()) << shape << " " << wrapped;
            }
        }
    }
}

}  // namespace
}  // namespace podsim::topology
