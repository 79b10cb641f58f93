// Rings, lines and links of groups, by hand.
#include "collectives/paths/factors.h"

#include <gtest/gtest.h>

#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {
namespace {

TEST(FactorsTest, TheOutermostOfAWrappedAxisIsARing) {
    const topology::Lattice ring = box({8, 1, 1}, 1);
    EXPECT_TRUE(factor_kind(ring, {0, 1, 8}).ring);
    EXPECT_TRUE(factor_kind(ring, {0, 2, 4}).ring);
    EXPECT_EQ(factor_kind(ring, {0, 2, 4}).links_per_hop, 2);
    EXPECT_FALSE(factor_kind(ring, {0, 1, 4}).ring);
    EXPECT_FALSE(factor_kind(ring, {0, 2, 2}).ring);
    EXPECT_FALSE(factor_kind(box({8, 1, 1}, 0), {0, 1, 8}).ring);
}

/// On k x k x 2k, x and y close with a shift along z:
/// alone they are lines, in the whole slice rings.
TEST(FactorsTest, ATwistedAxisIsALineAlone) {
    const topology::Lattice slice = twisted({2, 2, 4});
    const Group whole = whole_axes(slice);
    EXPECT_TRUE(spans_twisted_slice(slice, whole));
    EXPECT_FALSE(spans_twisted_slice(box({2, 2, 4}, 7), whole));
    EXPECT_FALSE(has_line(slice, whole));
    EXPECT_TRUE(walked_as_ring(slice, whole, whole[0]));
    const Group plane = whole_axes(slice, 5);
    EXPECT_FALSE(spans_twisted_slice(slice, plane));
    EXPECT_FALSE(walked_as_ring(slice, plane, plane[0]));
    EXPECT_TRUE(walked_as_ring(slice, plane, plane[1]));  // z closes straight
    EXPECT_TRUE(has_line(slice, plane));
    EXPECT_FALSE(has_line(slice, {{2, 1, 4}}));
    EXPECT_FALSE(has_line(slice, {}));
}

/// A member has at most the two links of an axis. The groups are both factors of a ring of 8, a
/// block of 2 and the ring of its 4 blocks.
TEST(FactorsTest, LinksPerMember) {
    const topology::Lattice ring = box({8, 1, 1}, 1);
    const topology::Lattice line = box({8, 1, 1}, 0);
    const auto links = [](const topology::Lattice& slice, const Group& group) {
        const LinkCount count = links_per_member(slice, group);
        return std::pair(count.fewest, count.mean);
    };
    EXPECT_EQ(links(ring, {{0, 1, 8}}), std::pair(2.0, 2.0));
    EXPECT_EQ(links(line, {{0, 1, 8}}), std::pair(1.0, 1.75));
    EXPECT_EQ(links(line, {{0, 1, 4}}), std::pair(1.0, 1.5));
    EXPECT_EQ(links(ring, {{0, 1, 2}, {0, 2, 4}}), std::pair(2.0, 2.0));
    EXPECT_EQ(links(line, {{0, 1, 2}}), std::pair(1.0, 1.0));
    EXPECT_EQ(links(line, {{0, 1, 2}, {0, 4, 2}}), std::pair(2.0, 2.0));
    EXPECT_EQ(links(box({4, 4, 1}, 1), {{0, 1, 4}, {1, 1, 4}}), std::pair(3.0, 3.5));
    EXPECT_EQ(links(ring, {}), std::pair(0.0, 0.0));
}

}  // namespace
}  // namespace podsim::collectives
