#include "topology/graph/lattice_graph.h"

#include <gtest/gtest.h>
#include <set>
#include <sstream>

#include <boost/graph/iteration_macros.hpp>
#include <boost/graph/strong_components.hpp>

#include "tests/topology/lattice_support.h"
#include "topology/graph/graphviz.h"

namespace podsim::topology {
namespace {

Lattice line(int length, bool wrapped) {
    return box({length, 1, 1}, wrapped ? 1 : 0);
}

/// Slices of every kind: tori, meshes, twisted, degenerate.
std::vector<Lattice> samples() {
    std::vector<Lattice> lattices{offered_twisted({4, 4, 8}), offered_twisted({4, 8, 8}),
                                  line(1, true), line(2, true), line(2, false)};
    Random random(11);
    for (int i = 0; i < 40; ++i) {
        lattices.push_back(random_lattice(random, 6));
    }
    return lattices;
}

TEST(LatticeGraph, LinksAreInvolutive) {
    for (const Lattice& lattice : samples()) {
        const LatticeGraph graph(lattice);
        BGL_FORALL_EDGES(link, graph, LatticeGraph) {
            // The opposite port of the far end leads back: + then -, and - then +.
            const Link back{target(link, graph), link.port ^ 1};
            ASSERT_TRUE(has_link(lattice, back)) << to_string(lattice.lengths);
            ASSERT_EQ(target(back, graph), link.chip) << to_string(lattice.lengths);
            ASSERT_EQ(back.axis(), link.axis());
            ASSERT_EQ(back.direction(), -link.direction());
        }
    }
}

// An axis of length n gives each line of n chips 2 n directed links when wrapped, 2 (n - 1) when
// not, none when n = 1.
TEST(LatticeGraph, CountsLinks) {
    for (const Lattice& lattice : samples()) {
        std::size_t expected = 0;
        for (int axis = 0; axis < kAxes; ++axis) {
            const int n = lattice.length(axis);
            const int per_line = n == 1 ? 0 : lattice.wraps(axis) ? 2 * n : 2 * (n - 1);
            expected += static_cast<std::size_t>(lattice.size() / n * per_line);
        }
        const LatticeGraph graph(lattice);
        EXPECT_EQ(num_edges(graph), expected) << to_string(lattice.lengths);
        EXPECT_EQ(num_vertices(graph), static_cast<std::size_t>(lattice.size()));
        std::size_t by_chip = 0;
        std::set<Link> seen;
        BGL_FORALL_VERTICES(chip, graph, LatticeGraph) {
            by_chip += out_degree(chip, graph);
            BGL_FORALL_OUTEDGES(chip, link, graph, LatticeGraph) {
                EXPECT_EQ(source(link, graph), chip);
                seen.insert(link);
            }
        }
        EXPECT_EQ(by_chip, expected);
        EXPECT_EQ(seen.size(), expected);
    }
}

TEST(LatticeGraph, AWrappedPairHasTwoParallelLinks) {
    const LatticeGraph pair(line(2, true));
    std::vector<int> neighbours;
    BGL_FORALL_ADJ(0, chip, pair, LatticeGraph) {
        neighbours.push_back(chip);
    }
    EXPECT_EQ(neighbours, (std::vector<int>{1, 1}));
    EXPECT_EQ(num_edges(pair), 4u);
    EXPECT_EQ(num_edges(LatticeGraph(line(2, false))), 2u);
    EXPECT_EQ(num_edges(LatticeGraph(line(1, true))), 0u);
}

TEST(LatticeGraph, TwistedWrapsLandWhereTheShiftSays) {
    const LatticeGraph graph(offered_twisted({4, 4, 8}));
    const Lattice& slice = graph.lattice();
    // From (3,1,2) past the end of x: back to x = 0, z + 4.
    EXPECT_EQ(slice.point(target(Link{slice.index({3, 1, 2}), 0}, graph)), (Point{0, 1, 6}));
    // From (1,0,6) below the start of y: to y = 3, z - 4.
    EXPECT_EQ(slice.point(target(Link{slice.index({1, 0, 6}), 3}, graph)), (Point{1, 3, 2}));
    // z wraps straight.
    EXPECT_EQ(slice.point(target(Link{slice.index({1, 2, 7}), 4}, graph)), (Point{1, 2, 0}));
}

// An algorithm of Boost.Graph that we do not use ourselves runs on the same graph.
TEST(LatticeGraph, IsStronglyConnected) {
    for (const Lattice& lattice : samples()) {
        const LatticeGraph graph(lattice);
        std::vector<int> component(num_vertices(graph));
        EXPECT_EQ(boost::strong_components(
                      graph, boost::make_iterator_property_map(component.begin(),
                                                               get(boost::vertex_index, graph))),
                  1)
            << to_string(lattice.lengths);
    }
}

TEST(Graphviz, DrawsEachLinkOnce) {
    std::ostringstream ring;
    write_graphviz(ring, Lattice{.lengths = {3, 1, 1}, .wrapped = {true}, .wrap_shift = {}});
    EXPECT_EQ(ring.str(),
              "digraph G {\n"
              "0[label=\"0,0,0\"];\n"
              "1[label=\"1,0,0\"];\n"
              "2[label=\"2,0,0\"];\n"
              "0->1 [dir=both,label=\"x\",color=red3];\n"
              "1->2 [dir=both,label=\"x\",color=red3];\n"
              "2->0 [dir=both,label=\"x\",color=red3,style=dashed];\n"
              "}\n");
    std::ostringstream slice;
    write_graphviz(slice, offered_twisted({4, 4, 8}));
    const std::string text = slice.str();
    std::size_t arrows = 0;
    for (std::size_t at = text.find("->"); at != std::string::npos; at = text.find("->", at + 1)) {
        ++arrows;
    }
    EXPECT_EQ(arrows, 3u * 128u);
}

}  // namespace
}  // namespace podsim::topology
