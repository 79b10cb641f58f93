// Lower bounds of algorithms along rings and lines, by hand.
#include "collectives/algorithms/ring_bounds.h"

#include <gtest/gtest.h>
#include <utility>

#include "collectives/algorithms/order_weights.h"
#include "collectives/catalogue/bounds.h"
#include "collectives/catalogue/choose_algorithm.h"
#include "collectives/catalogue/closed_form.h"
#include "collectives/paths/factors.h"
#include "tests/collectives/carriers/checks.h"

namespace podsim::collectives {
namespace {

CollectiveCall on(const topology::Lattice& slice, const Group& group, Algorithm algorithm,
                  double bytes) {
    return {.operation = Operation::all_gather,
            .slice = slice,
            .members = {group},
            .bytes = sim::Bytes(bytes),
            .algorithm = algorithm};
}

std::pair<int, double> once(const CollectiveCall& call) {
    const AlgorithmLoad load = load_once(call);
    return {load.hops, load.bytes.value()};
}

std::pair<int, double> twice(const CollectiveCall& call) {
    const AlgorithmLoad load = load_twice(call);
    return {load.hops, load.bytes.value()};
}

/// Each of 8 members holds 100 of 800 bytes. Two-way, a
/// link carries 7/2 blocks in 4 hops; one-way, all 7.
TEST(AlgorithmLoadTest, OnARing) {
    const topology::Lattice ring = box({8, 1, 1}, 1);
    const Group group = whole_axes(ring);
    EXPECT_EQ(once(on(ring, group, Algorithm::two_way, 800)), std::pair(4, 350.0));
    EXPECT_EQ(twice(on(ring, group, Algorithm::two_way, 800)), std::pair(8, 700.0));
    EXPECT_EQ(once(on(ring, group, Algorithm::one_way, 800)), std::pair(7, 700.0));
    EXPECT_EQ(twice(on(ring, group, Algorithm::one_way, 800)), std::pair(14, 1400.0));
    // One shot carries whole arrays: 7/2 of 800.
    EXPECT_EQ(twice(on(ring, group, Algorithm::one_shot, 800)), std::pair(4, 2800.0));
    // With a stride of 2 a member's 100 bytes take two links, which the other group shares.
    EXPECT_EQ(once(on(ring, {{0, 2, 4}}, Algorithm::two_way, 400)), std::pair(4, 300.0));
}

/// The link into an end carries the blocks of all others.
/// Reduced and gathered, the halves fill opposite directions.
TEST(AlgorithmLoadTest, OnALine) {
    const topology::Lattice line = box({8, 1, 1}, 0);
    const Group group = whole_axes(line);
    EXPECT_EQ(once(on(line, group, Algorithm::two_way, 800)), std::pair(7, 700.0));
    EXPECT_EQ(once(on(line, group, Algorithm::one_way, 800)), std::pair(7, 700.0));
    EXPECT_EQ(twice(on(line, group, Algorithm::two_way, 800)), std::pair(14, 800.0));
    EXPECT_EQ(twice(on(line, group, Algorithm::one_shot, 800)), std::pair(7, 5600.0));
}

/// Rings of 4 and 2 in equal parts, 50 bytes each at a member. One part takes x first, 3/2 x 50,
/// then y, 1/2 x 200; the other y first, 1/2 x 50, then x, 3/2 x 100. In one shot the arrays do not
/// grow: x (3/2) 400 in both, y 1/2 of 400 in both.
TEST(AlgorithmLoadTest, OnTwoRings) {
    const topology::Lattice slice = box({4, 2, 1}, 3);
    const Group group = whole_axes(slice);
    EXPECT_EQ(once(on(slice, group, Algorithm::equal_parts, 800)), std::pair(3, 225.0));
    EXPECT_EQ(twice(on(slice, group, Algorithm::one_shot, 800)), std::pair(3, 1200.0));
    // With one part the order is x then y.
    EXPECT_EQ(once(on(slice, group, Algorithm::two_way, 800)), std::pair(3, 200.0));
}

/// The group of the whole twisted slice walks x as a ring of 2k = 4, then y and z as rings of 2.
TEST(AlgorithmLoadTest, OnATwistedSlice) {
    const topology::Lattice slice = twisted({2, 2, 4});
    const CollectiveCall call = on(slice, whole_axes(slice), Algorithm::two_way, 1600);
    // The load is 100 x 3/2 on x, then 400 x 1/2, then 800 x 1/2.
    EXPECT_EQ(once(call), std::pair(2 + 1 + 1, 400.0));
}

/// With almost nothing to carry the time is four hops of 1 s, each less 1 ps for rounding. With no
/// latency to wait for it is 350 s.
TEST(AlgorithmLoadTest, LowerBound) {
    const topology::Lattice ring = box({8, 1, 1}, 1);
    const LinkModel link{.rate = sim::BytesPerSecond(1), .latency = sim::Seconds(1)};
    CollectiveCall call = on(ring, whole_axes(ring), Algorithm::two_way, 1e-9);
    EXPECT_EQ(lower_bound(call, link).ps, 4 * (1'000'000'000'000 - 1));
    call.bytes = sim::Bytes(800);
    EXPECT_NEAR(lower_bound(call, link).seconds(), 350, 1e-9);
    call.algorithm = Algorithm::one_way;
    EXPECT_NEAR(lower_bound(call, link).seconds(), 700, 1e-9);
    // For routes and trees the lower bound is the physical bound.
    call.operation = Operation::all_reduce;
    call.slice = box({8, 1, 1}, 0);
    call.algorithm = Algorithm::reduce_broadcast;
    EXPECT_NEAR(lower_bound(call, link).seconds(), 800, 1e-9);
    call.operation = Operation::all_to_all;
    EXPECT_NEAR(lower_bound(call, link).seconds(), physical_bound(call, link.rate).value(), 1e-9);
}

/// A ring of 8 with B = 100, at 1 B/s and a latency of 1 s: 3 (B + 1) + (B / 2 + 1),
/// which is the exact time. Rings of 4 and 2 in equal parts, in one chunk: first 50
/// bytes at a member go 3/2 times over x, in 2 hops, each of which may wait behind a
/// message of 100. The other part's half of 50 goes over y, in one hop that may wait
/// behind 200. Then 100 go 3/2 times over x and half of 200 over y.
TEST(LatestEndTest, ByHand) {
    const LinkModel link{.rate = sim::BytesPerSecond(1), .latency = sim::Seconds(1)};
    const topology::Lattice ring = box({8, 1, 1}, 1);
    CollectiveCall call = on(ring, whole_axes(ring), Algorithm::two_way, 800);
    const double alone = 3 * 101 + 51;
    EXPECT_NEAR(latest_end(call, {}, link)->seconds(), alone, 1e-6);
    EXPECT_NEAR(closed_form(call, {}, link)->seconds(), alone, 1e-6);
    const topology::Lattice two = box({4, 2, 1}, 3);
    call = on(two, whole_axes(two), Algorithm::equal_parts, 800);
    EXPECT_NEAR(latest_end(call, {.chunks = 1}, link)->seconds(), 75 + 2 * (1 + 100) + 150 + 2 * 1,
                1e-6);
    // Reduced, the large phase comes first, and its messages may wait behind 50 bytes.
    call.operation = Operation::reduce_scatter;
    EXPECT_NEAR(latest_end(call, {.chunks = 1}, link)->seconds(), 150 + 2 * (1 + 50) + 75 + 2 * 1,
                1e-6);
}

/// Blocks are two whole messages, but for the rounding of their sizes, which may cut them into two
/// more. Without latency the roundings of these messages count.
TEST(LatestEndTest, CountsTheRoundingsOfMessagesThatAreCutOnceMore) {
    Case c;
    c.operation = Operation::reduce_scatter;
    c.algorithm = Algorithm::two_way;
    c.slice = box({11, 1, 1}, 1);
    c.group = whole_axes(c.slice);
    c.link.latency = sim::Seconds(0);
    for (const double rate : {4.5e10, 9e10}) {
        for (const double v : {1e5, 3e7}) {
            for (const int messages : {2, 4}) {
                c.link.rate = sim::BytesPerSecond(rate);
                c.v = sim::Bytes(v);
                c.options.message_cap = c.v / (11.0 * messages);
                EXPECT_LE(run_on(folded(c), c).result.end,
                          *latest_end(c.call(), c.options, c.link));
            }
        }
    }
}

/// No run on rings ends after latest_end, with one to five chunks, one
/// or several messages a block, strides, either latency rule and
/// infinite rates; some runs end close to it. Lines have no such bound.
TEST(LatestEndTest, HoldsOfEveryRun) {
    int said = 0;
    int close = 0;
    for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
        Random random(seed);
        const Case c = random_case(random, 12, 400);
        if (c.operation == Operation::all_reduce || group_size(c.group) == 1) {
            continue;
        }
        const auto latest = latest_end(c.call(), c.options, c.link);
        EXPECT_TRUE(!latest || !has_line(c.slice, c.group));
        if (latest) {
            const sim::Time time = run_on(folded(c), c).result.end;
            EXPECT_LE(time, *latest) << describe(c);
            ++said;
            close += time.seconds() > 0.9 * latest->seconds() ? 1 : 0;
        }
    }
    EXPECT_GT(said, 150);
    EXPECT_GT(close, 30);
}

/// Loads are equal if they can be; otherwise the largest
/// is minimal, here with the second order alone.
TEST(OrderWeightsTest, ByHand) {
    const std::vector<double> equal = order_weights({{1, 0.5}, {0.5, 1}});
    EXPECT_NEAR(equal[0], 0.5, 1e-12);
    EXPECT_NEAR(equal[1], 0.5, 1e-12);
    EXPECT_EQ(order_weights({{1, 0.5}, {0.5, 0.25}}), (std::vector<double>{0, 1}));
    // With loads (1, 0) and (1/4, 1/2): 1/4 + 3/4 w = 1/2 (1 - w), w = 1/5.
    const std::vector<double> fifth = order_weights({{1, 0.25}, {0, 0.5}});
    EXPECT_NEAR(fifth[0], 0.2, 1e-12);
    EXPECT_NEAR(fifth[1], 0.8, 1e-12);
    // The last of three orders equals the mean of the other two: the least norm gives each a third.
    const std::vector<double> thirds = order_weights({{1, 0, 0.5}, {0, 1, 0.5}});
    for (const double weight : thirds) {
        EXPECT_NEAR(weight, 1.0 / 3, 1e-12);
    }
}

}  // namespace
}  // namespace podsim::collectives
