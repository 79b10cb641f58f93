// Times of the reference text by hand algebra, with V = 1000 B and links of 1 B/s.
#include <gtest/gtest.h>

#include "collectives/catalogue/bounds.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {
namespace {

constexpr sim::BytesPerSecond kLink{1};

double book(const CollectiveCall& call, double hop, const SliceLinks& links = {}) {
    return book_time(call, kLink, sim::Seconds(hop), links).value();
}

CollectiveCall call_on_all(Operation operation, const topology::Lattice& slice) {
    return {.operation = operation,
            .slice = slice,
            .members = {whole_axes(slice)},
            .bytes = sim::Bytes(1000)};
}

/// An AllReduce takes twice an AllGather's 500, or twice its two hops; an AllToAll takes a quarter,
/// and on a line V/4 over its middle.
TEST(BookTimeTest, MultiplesOfAnAllGather) {
    const topology::Lattice ring = box({4, 1, 1}, 1);
    EXPECT_EQ(book(call_on_all(Operation::all_reduce, ring), 300), 1200);
    EXPECT_EQ(book(call_on_all(Operation::all_to_all, ring), 1), 125);
    EXPECT_EQ(book(call_on_all(Operation::all_to_all, ring), 400), 200);
    EXPECT_EQ(book(call_on_all(Operation::all_to_all, box({4, 1, 1}, 0)), 1), 250);
}

/// The time is V A / (4 N W) along the longest axis: for 4 x 8 rings 8/32 of V over 4 x 2, for 4 x
/// 2 lines 4/8 of V over 4.
TEST(BookTimeTest, AnAllToAllOverSeveralAxes) {
    const CollectiveCall rings = call_on_all(Operation::all_to_all, box({4, 8, 1}, 3));
    EXPECT_EQ(book(rings, 0), 1000.0 * 8 / 32 / 8);
    EXPECT_EQ(book(call_on_all(Operation::all_to_all, box({4, 2, 1}, 0)), 0), 1000.0 * 4 / 8 / 4);
    // The length of an axis counts both of its factors.
    CollectiveCall split = rings;
    split.members.group = {{1, 1, 2}, {0, 1, 4}, {1, 2, 4}};
    EXPECT_EQ(book(split, 0), book(rings, 0));
}

/// A ring of 4 counts two links and 2 hops, a line of
/// 4 one link and 3 hops; with a line 15/16 of V move.
TEST(BookTimeTest, ARingBesideALine) {
    const CollectiveCall call = call_on_all(Operation::all_gather, box({4, 4, 1}, 1));
    EXPECT_EQ(book(call, 1), 312.5);
    EXPECT_EQ(book(call, 100), 500);
}

/// Two factors of one axis share its links: 3/4 of V over one link; each factor walks its own hop.
TEST(BookTimeTest, TwoFactorsOfOneAxis) {
    CollectiveCall call = call_on_all(Operation::all_gather, box({8, 1, 1}, 0));
    call.members.group = {{0, 1, 2}, {0, 4, 2}};
    EXPECT_EQ(book(call, 1), 750);
    EXPECT_EQ(book(call, 400), 800);
}

/// A whole twisted slice counts rings along all axes.
TEST(BookTimeTest, ATwistedSlice) {
    const CollectiveCall call = call_on_all(Operation::all_gather, twisted({2, 2, 4}));
    EXPECT_EQ(book(call, 1), 1000.0 / 6);
    EXPECT_EQ(book(call, 100), 400);
    CollectiveCall short_axis = call;
    short_axis.members.group = whole_axes(call.slice, 1);
    EXPECT_EQ(book(short_axis, 1), 500);  // a line of 2
}

/// From the second chip of a line of 4 a root has two links, and two hops to the farther end; from
/// an end, one link and three hops.
TEST(BookTimeTest, FromAndToARoot) {
    const topology::Lattice line = box({4, 1, 1}, 0);
    CollectiveCall broadcast = call_on_all(Operation::broadcast, line);
    EXPECT_EQ(book(broadcast, 1), 1000);
    EXPECT_EQ(book(broadcast, 400), 1200);
    broadcast.ends.root = {1, 0, 0};
    EXPECT_EQ(book(broadcast, 1), 500);
    EXPECT_EQ(book(broadcast, 300), 600);
    for (const Operation operation : {Operation::gather, Operation::scatter}) {
        CollectiveCall spread = call_on_all(operation, line);
        EXPECT_EQ(book(spread, 1), 750);
        spread.ends.root = {2, 0, 0};
        EXPECT_EQ(book(spread, 1), 375);
        EXPECT_EQ(book(spread, 200), 400);
    }
}

/// The end with fewer links counts, and the hops of the shortest route.
TEST(BookTimeTest, ASend) {
    CollectiveCall send{.operation = Operation::send,
                        .slice = box({4, 1, 1}, 0),
                        .bytes = sim::Bytes(1000),
                        .ends = {.root = {0, 0, 0}, .to = {2, 0, 0}}};
    EXPECT_EQ(book(send, 1), 1000);
    EXPECT_EQ(book(send, 600), 1200);
    std::swap(send.ends.root, send.ends.to);
    EXPECT_EQ(book(send, 1), 1000);
    send.ends.to = {1, 0, 0};
    EXPECT_EQ(book(send, 1), 500);
    send.slice.wrapped[0] = true;
    send.ends = {.root = {0, 0, 0}, .to = {3, 0, 0}};
    EXPECT_EQ(book(send, 600), 600);
}

/// A permute takes V / n over one link; on a line the last member's share goes all the way back.
TEST(BookTimeTest, APermute) {
    EXPECT_EQ(book(call_on_all(Operation::permute, box({4, 1, 1}, 1)), 100), 250);
    EXPECT_EQ(book(call_on_all(Operation::permute, box({4, 1, 1}, 0)), 100), 300);
    CollectiveCall two = call_on_all(Operation::permute, box({4, 1, 1}, 1));
    two.ends.shift = 2;
    EXPECT_EQ(book(two, 200), 400);
}

/// Two slices of a ring of 4 have two hosts each. DCN of both hosts
/// carries V of every group, 2 V for an AllReduce, and V/4 for an
/// AllToAll; each slice exchanges V/4 of the AllToAll within itself.
TEST(BookTimeTest, BetweenSlices) {
    const auto between = [](Operation operation, const Group& group, double dcn) {
        const CollectiveCall call{.operation = operation,
                                  .slice = box({4, 1, 1}, 1),
                                  .members = {group, {1, 2}},
                                  .bytes = sim::Bytes(1000)};
        return book(call, 1, {.pcie = kLink, .dcn = sim::BytesPerSecond(dcn), .hosts = 2});
    };
    const Group ring{{0, 1, 4}};
    EXPECT_EQ(between(Operation::all_gather, ring, 2), 500);  // within the slice
    EXPECT_EQ(between(Operation::all_gather, ring, 0.5), 1000);
    EXPECT_EQ(between(Operation::reduce_scatter, ring, 0.25), 2000);
    EXPECT_EQ(between(Operation::all_reduce, ring, 0.5), 2000);
    EXPECT_EQ(between(Operation::all_to_all, ring, 0.5), 250);
    EXPECT_EQ(between(Operation::all_to_all, ring, 1e9), 31.25);
    // Every slice has two groups of two, then four single chips.
    EXPECT_EQ(between(Operation::all_gather, {{0, 1, 2}}, 0.5), 2000);
    EXPECT_EQ(between(Operation::all_gather, {}, 0.5), 4000);
}

/// In an AllToAll of four slices 3/16 of V leave each slice, and 1/16 stays.
TEST(BookTimeTest, AnAllToAllOfFourSlices) {
    const CollectiveCall call{.operation = Operation::all_to_all,
                              .slice = box({4, 1, 1}, 1),
                              .members = {{{0, 1, 4}}, {1, 4}},
                              .bytes = sim::Bytes(1600)};
    EXPECT_EQ(book(call, 0, {.pcie = kLink, .dcn = sim::BytesPerSecond(3), .hosts = 1}), 100);
    EXPECT_EQ(book(call, 0, {.pcie = kLink, .dcn = sim::BytesPerSecond(1e9), .hosts = 1}), 12.5);
}

}  // namespace
}  // namespace podsim::collectives
