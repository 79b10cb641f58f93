// Bounds and the book's estimates by hand algebra, with V = 1000 B and links of 1 B/s, and the
// ratios that the default algorithm must reach.
#include "collectives/catalogue/bounds.h"

#include <gtest/gtest.h>

#include "tests/collectives/carriers/checks.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {
namespace {

constexpr auto kAllGather = Operation::all_gather;
constexpr auto kReduceScatter = Operation::reduce_scatter;
constexpr auto kAllReduce = Operation::all_reduce;
constexpr sim::Bytes kV{1000};
constexpr sim::BytesPerSecond kLinkRate{1};

double bound(Operation operation, const topology::Lattice& slice, const Group& group) {
    return physical_bound({.operation = operation, .slice = slice, .members = {group}, .bytes = kV},
                          kLinkRate)
        .value();
}

TEST(BoundsTest, LinksPerChip) {
    const topology::Lattice slice = box({4, 3, 1}, 1);  // a ring of 4 beside a line of 3
    EXPECT_EQ(links_per_chip(slice, 1).fewest, 2);
    EXPECT_EQ(links_per_chip(slice, 1).mean, 2);
    EXPECT_EQ(links_per_chip(slice, 2).fewest, 1);
    EXPECT_DOUBLE_EQ(links_per_chip(slice, 2).mean, 4.0 / 3);  // 4 directed links on 3 chips
    EXPECT_EQ(links_per_chip(slice, 7).fewest, 3);
    EXPECT_DOUBLE_EQ(links_per_chip(slice, 7).mean, 10.0 / 3);
    EXPECT_EQ(links_per_chip(slice, 4).fewest, 0);
    EXPECT_EQ(axes_mask(Group{{0, 1, 2}, {2, 1, 2}}), 5U);
}

TEST(BoundsTest, LeastTraffic) {
    const LeastTraffic gather = least_traffic(kAllGather, 4, kV);
    EXPECT_EQ(gather.receive.value(), 750);
    EXPECT_EQ(gather.send.value(), 250);
    EXPECT_EQ(gather.mean.value(), 750);
    const LeastTraffic scatter = least_traffic(kReduceScatter, 4, kV);
    EXPECT_EQ(scatter.receive.value(), 250);
    EXPECT_EQ(scatter.send.value(), 750);
    EXPECT_EQ(scatter.mean.value(), 750);
    const LeastTraffic reduce = least_traffic(kAllReduce, 4, kV);
    EXPECT_EQ(reduce.receive.value(), 1000);
    EXPECT_EQ(reduce.send.value(), 1000);
    EXPECT_EQ(reduce.mean.value(), 1500);
    for (const Operation operation : gathering_operations()) {
        EXPECT_EQ(least_traffic(operation, 1, kV).mean.value(), 0);
    }
}

TEST(BoundsTest, RingsAndLines) {
    const topology::Lattice ring = box({4, 1, 1}, 1);
    const topology::Lattice line = box({4, 1, 1}, 0);
    const Group group = whole_axes(ring);
    EXPECT_EQ(bound(kAllGather, ring, group), 375);  // 750 over two links
    EXPECT_EQ(bound(kReduceScatter, ring, group), 375);
    EXPECT_EQ(bound(kAllReduce, ring, group), 750);  // twice that
    EXPECT_EQ(bound(kAllGather, line, group), 750);  // an end has one link
    EXPECT_EQ(bound(kReduceScatter, line, group), 750);
    EXPECT_EQ(bound(kAllReduce, line, group), 1000);  // V over an end's link; 6000 over 6 links
    EXPECT_EQ(bound(kAllGather, ring, {}), 0);
    // Infinite rates take no time.
    EXPECT_EQ(
        physical_bound({.operation = kAllGather, .slice = ring, .members = {group}, .bytes = kV},
                       sim::BytesPerSecond::infinity())
            .value(),
        0);
}

// Two groups of four interleave, 0 2 4 6 and 1 3 5 7; then come two more. The link into 6 and 7,
// and out of the arc 6 to 9, carries what three members of each hold, 2 x 3/4 V. Arcs that begin
// with a block of groups show half of that.
TEST(BoundsTest, ArcsBeginWithinBlocksOfInterleavedGroups) {
    const topology::Lattice ring = box({16, 1, 1}, 1);
    const Group group{{0, 2, 4}};
    EXPECT_EQ(bound(kAllGather, ring, group), 1500);
    EXPECT_EQ(bound(kReduceScatter, ring, group), 1500);
    // An AllReduce carries V of each of the two groups in both directions.
    EXPECT_EQ(bound(kAllReduce, ring, group), 2000);
}

TEST(BoundsTest, SeveralAxes) {
    const topology::Lattice torus = box({4, 4, 4}, 7);
    EXPECT_DOUBLE_EQ(bound(kAllGather, torus, whole_axes(torus)), 1000.0 * 63 / 64 / 6);
    EXPECT_DOUBLE_EQ(bound(kAllReduce, torus, whole_axes(torus)), 1000.0 * 63 / 64 / 3);
    // In a 3 x 3 mesh the corner has two links for 8/9 of V.
    const topology::Lattice mesh = box({3, 3, 1}, 0);
    EXPECT_DOUBLE_EQ(bound(kAllGather, mesh, whole_axes(mesh)), 1000.0 * 8 / 9 / 2);
    // For an AllReduce a corner gives V / 2; all chips give 2 x 8 V over 24 directed links, 2/3 V.
    EXPECT_DOUBLE_EQ(bound(kAllReduce, mesh, whole_axes(mesh)), 1000.0 * 2 / 3);
    // A ring of 4 beside a line of 4 has three links for 15/16 of V at an end of the line.
    const topology::Lattice mixed = box({4, 4, 1}, 1);
    EXPECT_DOUBLE_EQ(bound(kAllGather, mixed, whole_axes(mixed)), 1000.0 * 15 / 16 / 3);
    // A line of 2 beside a ring of 16 has three links for 31/32 of V.
    const topology::Lattice slab = box({2, 16, 1}, 2);
    EXPECT_DOUBLE_EQ(bound(kAllGather, slab, whole_axes(slab)), 1000.0 * 31 / 32 / 3);
}

/// Strided groups share links: their needs across a cut add up.
TEST(BoundsTest, StridedGroupsAreCut) {
    // x/4 of a line of 8 has the pairs (c, c + 4). Across the middle each of 4 pairs sends V/2 in
    // each direction over one link: 2 V.
    EXPECT_EQ(bound(kAllGather, box({8, 1, 1}, 0), {{0, 4, 2}}), 2000);
    EXPECT_EQ(bound(kReduceScatter, box({8, 1, 1}, 0), {{0, 4, 2}}), 2000);
    // For an AllReduce each half needs V of each pair: 4 V.
    EXPECT_EQ(bound(kAllReduce, box({8, 1, 1}, 0), {{0, 4, 2}}), 4000);
    // On a ring any 4 neighbours have two links in.
    EXPECT_EQ(bound(kAllGather, box({8, 1, 1}, 1), {{0, 4, 2}}), 1000);
    // x/2 of a ring of 8 has two groups of 4. An arc of 4 lacks half of V
    // of each group: V over 2 links. An arc of 2 holds one member of each:
    // 3/4 of each over 2 links, 3/4 V. An arc of one chip gives 3/8 V.
    EXPECT_EQ(bound(kAllGather, box({8, 1, 1}, 1), {{0, 2, 4}}), 750);
    // Blocks of neighbours, x%4, are lines of 4, whose ends have one link.
    EXPECT_EQ(bound(kAllGather, box({8, 1, 1}, 1), {{0, 1, 4}}), 750);
}

TEST(BoundsTest, BookTime) {
    const auto book = [](Operation operation, const topology::Lattice& slice, double hop) {
        return book_time({.operation = operation,
                          .slice = slice,
                          .members = {whole_axes(slice)},
                          .bytes = kV},
                         kLinkRate, sim::Seconds(hop))
            .value();
    };
    EXPECT_EQ(book(kAllGather, box({4, 1, 1}, 1), 1), 500);    // V / W
    EXPECT_EQ(book(kAllGather, box({4, 1, 1}, 1), 300), 600);  // two hops either way
    EXPECT_EQ(book(kAllGather, box({5, 1, 1}, 1), 300), 750);  // two hops in either direction
    EXPECT_EQ(book(kAllGather, box({4, 1, 1}, 0), 1), 750);    // 3 hops of V/4, one way
    EXPECT_EQ(book(kAllGather, box({4, 1, 1}, 0), 400), 1200);
    EXPECT_EQ(book(kReduceScatter, box({4, 1, 1}, 0), 400), 1200);
    EXPECT_EQ(book(kAllReduce, box({4, 1, 1}, 1), 1), 1000);
    EXPECT_EQ(book(kAllGather, box({4, 4, 1}, 3), 1), 250);    // two axes
    EXPECT_EQ(book(kAllGather, box({4, 6, 1}, 3), 100), 500);  // 2 + 3 hops
    EXPECT_EQ(book(kAllGather, box({1, 1, 1}, 0), 100), 0);
}

/// Ratio of bound to simulated time of the default
/// algorithm on v5p, 1e9 bytes over the whole slice.
TEST(BoundsTest, TheDefaultIsNearTheBound) {
    struct Row {
        topology::Point shape;
        double least;
    };
    for (const Row& row : {Row{{16, 20, 28}, 0.97}, Row{{4, 4, 4}, 0.97}, Row{{8, 8, 8}, 0.97},
                           Row{{16, 16, 16}, 0.97}, Row{{8, 16, 16}, 0.97}, Row{{4, 8, 16}, 0.96},
                           Row{{4, 4, 16}, 0.96}, Row{{4, 4, 64}, 0.96}}) {
        for (const Operation operation : {kAllGather, kReduceScatter}) {
            Case c = on_chip("v5p", row.shape, operation, 7, 1e9);
            c.algorithm = picked(c);
            EXPECT_EQ(folded(c).size(), 1);
            const double ratio = physical_bound(c.call(), c.link.rate).value() /
                                 run_on(folded(c), c).result.end.seconds();
            EXPECT_GE(ratio, row.least)
                << to_string(operation) << " on " << topology::to_string(row.shape);
            EXPECT_LE(ratio, 1) << "faster than physics";
        }
    }
}

}  // namespace
}  // namespace podsim::collectives
