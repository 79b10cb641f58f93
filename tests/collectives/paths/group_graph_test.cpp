// Members of groups and the links between them, by hand.
#include "collectives/paths/group_graph.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {
namespace {

/// Members are numbered as the slice numbers chips, z
/// fastest; within an axis the larger stride varies slower.
TEST(GroupGraphTest, NumbersMembersAsChips) {
    const topology::Lattice slice = box({8, 3, 2}, 7);
    const GroupGraph graph(slice, {{0, 1, 2}, {0, 4, 2}, {2, 1, 2}});
    EXPECT_EQ(graph.members(), 8);
    EXPECT_EQ(graph.factors(), 3);
    EXPECT_EQ(graph.member_of({0, 0, 1}), 1);
    EXPECT_EQ(graph.member_of({1, 0, 0}), 2);
    EXPECT_EQ(graph.member_of({4, 0, 0}), 4);
    EXPECT_EQ(graph.member_of({5, 2, 1}), 7);
    // It has the same digits as {5, ., .}, in the next group.
    EXPECT_EQ(graph.member_of({7, 2, 0}), 6);
    for (int member = 0; member < graph.members(); ++member) {
        EXPECT_EQ(graph.member_of(graph.place_of(member)), member);
    }
    EXPECT_EQ(graph.place_of(6), (topology::Point{5, 0, 0}));
    EXPECT_EQ(GroupGraph(slice, whole_slice(slice)).member_of({3, 2, 1}), slice.index({3, 2, 1}));
}

/// A ring of 4 has 8 links, two into each member; a
/// line of 4 has 6. Interleaved groups share links.
TEST(GroupGraphTest, Links) {
    const GroupGraph ring(box({4, 1, 1}, 1), {{0, 1, 4}});
    EXPECT_EQ(ring.links().size(), 8U);
    EXPECT_EQ(ring.links_into(0), 2);
    EXPECT_EQ(ring.unit(), 1);
    const GroupGraph line(box({4, 1, 1}, 0), {{0, 1, 4}});
    EXPECT_EQ(line.links().size(), 6U);
    EXPECT_EQ(line.links_into(0), 1);
    EXPECT_EQ(line.links_into(1), 2);
    // x/2 of a ring of 8 has two groups that share every link, and legs of two links.
    const GroupGraph strided(box({8, 1, 1}, 1), {{0, 2, 4}});
    EXPECT_EQ(strided.unit(), 2);
    for (const GroupLink& link : strided.links()) {
        EXPECT_EQ(link.leg.links, 2);
        EXPECT_EQ(link.sharers, 2);
    }
    // With x%2 beside x/4, 2 of the 4 chips that a stride crosses are of the same group.
    const GroupGraph both(box({8, 1, 1}, 0), {{0, 1, 2}, {0, 4, 2}});
    EXPECT_EQ(both.unit(), 2);
    std::map<int, int> capacity;
    for (const topology::Arc& arc : both.arcs()) {
        capacity[std::abs(arc.to - arc.from)] = static_cast<int>(arc.capacity);
    }
    EXPECT_EQ(capacity, (std::map<int, int>{{1, 2}, {2, 1}}));
}

TEST(GroupGraphTest, DistancesAndSteps) {
    const GroupGraph ring(box({6, 1, 1}, 1), {{0, 1, 6}});
    EXPECT_EQ(ring.links_to(1), (std::vector<int>{1, 0, 1, 2, 3, 2}));
    EXPECT_EQ(ring.steps(4, 1, 0), 3);  // forward round the ring
    EXPECT_EQ(ring.steps(1, 4, 0), 3);
    const GroupGraph line(box({6, 1, 1}, 0), {{0, 1, 6}});
    EXPECT_EQ(line.links_to(1), (std::vector<int>{1, 0, 1, 2, 3, 4}));
    EXPECT_EQ(line.steps(4, 1, 0), -3);
    const GroupGraph strided(box({8, 1, 1}, 0), {{0, 4, 2}});
    EXPECT_EQ(strided.links_to(0), (std::vector<int>{0, 4}));
}

/// On k x k x 2k the wrap of x leads k further along z.
TEST(GroupGraphTest, TwistedWrapsLeadElsewhere) {
    const topology::Lattice slice = twisted({2, 2, 4});
    const GroupGraph graph(slice, whole_slice(slice));
    std::set<int> along_x;
    for (const GroupLink& link : graph.links()) {
        if (link.from == slice.index({1, 0, 0}) && link.leg.axis == 0) {
            along_x.insert(link.to);
        }
    }
    EXPECT_EQ(along_x, (std::set<int>{slice.index({0, 0, 0}), slice.index({0, 0, 2})}));
}

TEST(GroupGraphTest, DistinctPlaces) {
    const topology::Lattice slice = box({8, 4, 6}, 5);
    // On a wrapped axis groups repeat after stride x length, with two factors by the larger; on an
    // unwrapped axis all places differ.
    EXPECT_EQ(distinct_places(slice, {{0, 1, 2}}).lengths, (topology::Point{2, 1, 1}));
    EXPECT_EQ(distinct_places(slice, {{0, 2, 2}, {2, 1, 3}}).lengths, (topology::Point{4, 1, 3}));
    EXPECT_EQ(distinct_places(slice, {{0, 1, 2}, {0, 4, 2}}).lengths, (topology::Point{8, 1, 1}));
    EXPECT_EQ(distinct_places(slice, {{1, 1, 2}}).lengths, (topology::Point{1, 4, 1}));
    EXPECT_EQ(distinct_places(slice, {{1, 1, 2}}).wrapped, (std::array{true, false, true}));
    EXPECT_EQ(distinct_places(slice, {{0, 1, 2}}).wrapped, (std::array{true, true, true}));
    const topology::Lattice twist = twisted({2, 2, 4});
    EXPECT_EQ(distinct_places(twist, {{2, 1, 4}}).size(), twist.size());
}

}  // namespace
}  // namespace podsim::collectives
