// Shortest routes against breadth-first search, and published figures of twisted tori.
#include "collectives/paths/routes.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <gtest/gtest.h>
#include <vector>

#include "collectives/algorithms/all_to_all.h"
#include "tests/collectives/carriers/collective_support.h"
#include "topology/graph/machine_graph.h"
#include "topology/graph/metrics.h"

namespace podsim::collectives {
namespace {

/// Returns the hops from a chip to every chip.
std::vector<int> search(const topology::Lattice& slice, int from) {
    const topology::MachineGraph graph = topology::torus_graph(slice);
    std::vector<int> hops(static_cast<std::size_t>(slice.size()), -1);
    hops[static_cast<std::size_t>(from)] = 0;
    std::deque<int> open{from};
    while (!open.empty()) {
        const int chip = open.front();
        open.pop_front();
        for (auto [link, end] = out_edges(static_cast<topology::Vertex>(chip), graph); link != end;
             ++link) {
            const auto next = static_cast<std::size_t>(target(*link, graph));
            if (hops[next] < 0) {
                hops[next] = hops[static_cast<std::size_t>(chip)] + 1;
                open.push_back(static_cast<int>(next));
            }
        }
    }
    return hops;
}

int length_of(const topology::Point& p) {
    return std::abs(p[0]) + std::abs(p[1]) + std::abs(p[2]);
}

/// Follows a route link by link and returns the chip where it ends.
int walk(const topology::MachineGraph& graph, int from, const Route& route) {
    int chip = from;
    for (const Leg& leg : route.legs) {
        for (int link = 0; link < leg.links; ++link) {
            const auto next =
                topology::neighbour(graph, chip, topology::port_of(leg.axis, leg.direction));
            EXPECT_TRUE(next.has_value());
            chip = next.value_or(chip);
        }
    }
    return chip;
}

/// Walks every route between two chips: each ends at the destination, no search finds a shorter
/// one, and the shares add up to 1.
void expect_shortest(const topology::Lattice& slice, Random& random) {
    const int source = random.below(slice.size());
    const topology::Point from = slice.point(source);
    const std::vector<int> hops = search(slice, source);
    const topology::MachineGraph graph = topology::torus_graph(slice);
    for (int destination = 0; destination < slice.size(); ++destination) {
        // Takes any representative of the displacement, some full rounds away.
        topology::Point displacement = slice.point(destination) - from;
        for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
            const int turns = slice.wrapped[axis] ? random.between(-2, 2) : 0;
            displacement = displacement +
                           topology::along(static_cast<int>(axis), turns * slice.lengths[axis]) -
                           slice.wrap_shift[axis] * turns;
        }
        const std::vector<topology::Point> minimal = minimal_displacements(slice, displacement);
        ASSERT_FALSE(minimal.empty());
        for (const topology::Point& way : minimal) {
            ASSERT_EQ(length_of(way), hops[static_cast<std::size_t>(destination)]);
            ASSERT_EQ(slice.canonical(from + way), slice.point(destination));
        }
        double shares = 0;
        for (const Route& route : minimal_routes(slice, displacement)) {
            ASSERT_EQ(route.links(), hops[static_cast<std::size_t>(destination)]);
            ASSERT_EQ(walk(graph, source, route), destination);
            shares += route.share;
        }
        ASSERT_NEAR(shares, 1, 1e-12);
    }
}

TEST(RoutesTest, AreShortestOnPlainAndUnwrappedSlices) {
    Random random(1);
    for (int i = 0; i < 300; ++i) {
        const topology::Lattice slice = random_slice(random, 9, 300);
        expect_shortest(slice, random);
        ASSERT_FALSE(HasFailure())
            << slice.lengths[0] << "x" << slice.lengths[1] << "x" << slice.lengths[2];
    }
}

TEST(RoutesTest, AreShortestOnTwistedSlices) {
    Random random(2);
    for (int k = 2; k <= 6; ++k) {
        for (const topology::Point& shape :
             {topology::Point{k, k, 2 * k}, topology::Point{k, 2 * k, 2 * k}}) {
            for (int i = 0; i < 3; ++i) {
                expect_shortest(twisted(shape), random);
                ASSERT_FALSE(HasFailure()) << shape[0] << "x" << shape[1] << "x" << shape[2];
            }
        }
    }
}

/// All shortest routes are found. Counted on every chain of links, there are as many as the routes'
/// displacements allow, sum / (products of step factorials).
TEST(RoutesTest, NoMinimalDisplacementIsMissing) {
    Random random(3);
    std::vector<topology::Lattice> slices{twisted({2, 2, 4}), twisted({2, 4, 4}),
                                          twisted({4, 4, 8}), twisted({4, 8, 8})};
    for (int i = 0; i < 60; ++i) {
        slices.push_back(random_slice(random, 6, 120));
    }
    const auto factorial = [](int n) {
        double product = 1;
        for (int i = 2; i <= n; ++i) {
            product *= i;
        }
        return product;
    };
    for (const topology::Lattice& slice : slices) {
        const topology::MachineGraph graph = topology::torus_graph(slice);
        const int source = random.below(slice.size());
        const std::vector<int> hops = search(slice, source);
        // Number of shortest chains of links to every chip, by distance.
        std::vector<double> chains(hops.size());
        chains[static_cast<std::size_t>(source)] = 1;
        for (int distance = 0; distance < slice.size(); ++distance) {
            for (int chip = 0; chip < slice.size(); ++chip) {
                if (hops[static_cast<std::size_t>(chip)] != distance) {
                    continue;
                }
                for (auto [link, end] = out_edges(static_cast<topology::Vertex>(chip), graph);
                     link != end; ++link) {
                    const auto next = static_cast<std::size_t>(target(*link, graph));
                    if (hops[next] == distance + 1) {
                        chains[next] += chains[static_cast<std::size_t>(chip)];
                    }
                }
            }
        }
        for (int destination = 0; destination < slice.size(); ++destination) {
            double ways = 0;
            for (const topology::Point& way :
                 minimal_displacements(slice, slice.point(destination) - slice.point(source))) {
                ways += factorial(length_of(way)) / factorial(std::abs(way[0])) /
                        factorial(std::abs(way[1])) / factorial(std::abs(way[2]));
            }
            ASSERT_EQ(ways, chains[static_cast<std::size_t>(destination)]);
        }
    }
}

/// Mean hops and diameters agree with the published table, exactly, and with a search.
TEST(RoutesTest, PublishedDistances) {
    struct Row {
        topology::Point shape;
        double regular;
        double twisted;
        int regular_diameter;
        int twisted_diameter;
    };
    const auto expect = [](const topology::Lattice& slice, double mean, int diameter) {
        topology::Distances distances;
        for (int chip = 0; chip < slice.size(); ++chip) {
            const int hops = length_of(minimal_displacements(slice, slice.point(chip)).front());
            distances.sum += hops;
            distances.largest = std::max(distances.largest, hops);
        }
        // The table has three decimals; the sums are whole.
        EXPECT_NEAR(static_cast<double>(distances.sum) / slice.size(), mean, 0.0005 + 1e-9);
        EXPECT_EQ(distances.largest, diameter);
        distances.sum *= slice.size();
        distances.pairs = std::int64_t{slice.size()} * slice.size();
        EXPECT_EQ(distances, topology::distances_by_search(slice));
    };
    for (const Row& row :
         {Row{{4, 4, 8}, 4.000, 3.438, 8, 6}, Row{{4, 8, 8}, 5.000, 4.312, 10, 6},
          Row{{8, 8, 16}, 8.000, 6.969, 16, 12}, Row{{8, 16, 16}, 10.000, 8.719, 20, 12},
          Row{{12, 12, 24}, 12.000, 10.479, 24, 18}}) {
        expect(box(row.shape, 7), row.regular, row.regular_diameter);
        expect(twisted(row.shape), row.twisted, row.twisted_diameter);
    }
}

/// From one chip to all others the six directions of a twisted torus carry the same bytes, a sixth
/// of the distances; by translation, so does every link.
TEST(RoutesTest, TwistedToriLoadAllDirectionsAlike) {
    for (const topology::Point& shape :
         {topology::Point{2, 2, 4}, topology::Point{2, 4, 4}, topology::Point{4, 4, 8},
          topology::Point{4, 8, 8}, topology::Point{8, 8, 16}, topology::Point{8, 16, 16},
          topology::Point{12, 12, 24}}) {
        const topology::Lattice slice = twisted(shape);
        std::array<double, kIciPorts> load{};
        double hops = 0;
        for (int chip = 1; chip < slice.size(); ++chip) {
            for (const Route& route : minimal_routes(slice, slice.point(chip))) {
                hops += route.share * route.links();
                for (const Leg& leg : route.legs) {
                    load[port_of(leg.axis, leg.direction)] += route.share * leg.links;
                }
            }
        }
        for (const double direction : load) {
            EXPECT_NEAR(direction, hops / 6, 1e-9 * hops);
        }
    }
}

/// One-way routes take every order of the axes of exactly this displacement, with equal shares.
TEST(RoutesTest, OrderedRoutes) {
    EXPECT_EQ(ordered_routes({0, 0, 0}).size(), 1U);
    EXPECT_EQ(ordered_routes({3, 0, 0}).size(), 1U);
    EXPECT_EQ(ordered_routes({3, -1, 0}).size(), 2U);
    const std::vector<Route> routes = ordered_routes({3, 1, 2});
    ASSERT_EQ(routes.size(), 6U);
    for (const Route& route : routes) {
        EXPECT_EQ(route.links(), 6);
        EXPECT_DOUBLE_EQ(route.share, 1.0 / 6);
    }
}

}  // namespace
}  // namespace podsim::collectives
