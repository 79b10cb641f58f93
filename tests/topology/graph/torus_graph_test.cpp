// The chips and ICI links of the machine graph.
#include <gtest/gtest.h>
#include <set>

#include <boost/graph/iteration_macros.hpp>
#include <boost/graph/strong_components.hpp>

#include "tests/topology/lattice_support.h"
#include "topology/graph/machine_graph.h"

namespace podsim::topology {
namespace {

Lattice line(int length, bool wrapped) {
    return Lattice{.lengths = {length, 1, 1}, .wrapped = {wrapped}, .wrap_shift = {}};
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

TEST(TorusGraph, LinksAreInvolutive) {
    for (const Lattice& lattice : samples()) {
        const MachineGraph graph = torus_graph(lattice);
        BGL_FORALL_EDGES(link, graph, MachineGraph) {
            // The opposite port of the far end leads back: + then -, and - then +.
            const std::uint32_t port = graph[link].kind;
            ASSERT_EQ(neighbour(graph, static_cast<int>(target(link, graph)), port ^ 1U),
                      static_cast<int>(source(link, graph)))
                << to_string(lattice.lengths);
            ASSERT_EQ(axis_of(port ^ 1U), axis_of(port));
            ASSERT_EQ(direction_of(port ^ 1U), -direction_of(port));
        }
    }
}

// An axis of length n gives each line of n chips 2 n directed
// links if wrapped, 2 (n - 1) if not, and none if n = 1.
TEST(TorusGraph, CountsLinks) {
    for (const Lattice& lattice : samples()) {
        std::size_t expected = 0;
        for (int axis = 0; axis < kAxes; ++axis) {
            const int n = lattice.length(axis);
            const int per_line = n == 1 ? 0 : lattice.wraps(axis) ? 2 * n : 2 * (n - 1);
            expected += static_cast<std::size_t>(lattice.size() / n * per_line);
        }
        const MachineGraph graph = torus_graph(lattice);
        EXPECT_EQ(num_edges(graph), expected) << to_string(lattice.lengths);
        EXPECT_EQ(num_vertices(graph), static_cast<std::size_t>(lattice.size()));
        std::size_t by_chip = 0;
        std::set<std::pair<Vertex, int>> seen;
        BGL_FORALL_VERTICES(chip, graph, MachineGraph) {
            EXPECT_EQ(graph[chip].kind, VertexKind::chip);
            EXPECT_EQ(graph[chip].number, chip);
            by_chip += out_degree(chip, graph);
            BGL_FORALL_OUTEDGES(chip, link, graph, MachineGraph) {
                EXPECT_EQ(source(link, graph), chip);
                seen.emplace(chip, graph[link].kind);
            }
        }
        EXPECT_EQ(by_chip, expected);
        EXPECT_EQ(seen.size(), expected);
    }
}

TEST(TorusGraph, AWrappedPairHasTwoParallelLinks) {
    const MachineGraph pair = torus_graph(line(2, true));
    std::vector<Vertex> neighbours;
    BGL_FORALL_ADJ(Vertex{0}, chip, pair, MachineGraph) {
        neighbours.push_back(chip);
    }
    EXPECT_EQ(neighbours, (std::vector<Vertex>{1, 1}));
    EXPECT_EQ(num_edges(pair), 4u);
    EXPECT_EQ(num_edges(torus_graph(line(2, false))), 2u);
    EXPECT_EQ(num_edges(torus_graph(line(1, true))), 0u);
}

TEST(TorusGraph, TwistedWrapsLandWhereTheShiftSays) {
    const Lattice slice = offered_twisted({4, 4, 8});
    const MachineGraph graph = torus_graph(slice);
    const auto leads_to = [&](const Point& from, std::uint32_t port) {
        return slice.point(neighbour(graph, slice.index(from), port).value());
    };
    // (3,1,2) wraps past the end of x to x = 0, z + 4.
    EXPECT_EQ(leads_to({3, 1, 2}, port_of(0, 1)), (Point{0, 1, 6}));
    // (1,0,6) wraps below the start of y to y = 3, z - 4.
    EXPECT_EQ(leads_to({1, 0, 6}, port_of(1, -1)), (Point{1, 3, 2}));
    // z wraps straight.
    EXPECT_EQ(leads_to({1, 2, 7}, port_of(2, 1)), (Point{1, 2, 0}));
}

// An algorithm of Boost.Graph that the program does not use runs on the same graph.
TEST(TorusGraph, IsStronglyConnected) {
    for (const Lattice& lattice : samples()) {
        const MachineGraph graph = torus_graph(lattice);
        std::vector<int> component(num_vertices(graph));
        EXPECT_EQ(boost::strong_components(
                      graph, boost::make_iterator_property_map(component.begin(),
                                                               get(boost::vertex_index, graph))),
                  1)
            << to_string(lattice.lengths);
    }
}

}  // namespace
}  // namespace podsim::topology
