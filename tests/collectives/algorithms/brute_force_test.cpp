// Compares the kernel and the schedules with a simulator that
// shares neither: end times are equal to the picosecond.
#include "tests/collectives/carriers/brute_force.h"

#include <array>
#include <gtest/gtest.h>
#include <string>

#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {
namespace {

void expect_equal(const Case& c) {
    const sim::Time expected = brute_force(c);
    ASSERT_EQ(run_on(c.slice, c).result.end.ps, expected.ps) << describe(c);
}

/// A one-way AllGather of 3 x 9000 B at 9e9 B/s with
/// 1 us of latency takes two steps of 1 us + 1 us.
TEST(BruteForceTest, ItselfByHand) {
    Case c;
    c.slice = box({3, 1, 1}, 1);
    c.group = whole_axes(c.slice);
    c.algorithm = Algorithm::one_way;
    c.v = sim::Bytes(27000);
    c.link = {.rate = sim::BytesPerSecond(9e9), .latency = sim::Seconds(1e-6)};
    EXPECT_EQ(brute_force(c).ps, 4'000'000);
    // A two-way ring takes one step, a line two.
    c.algorithm = Algorithm::two_way;
    EXPECT_EQ(brute_force(c).ps, 2'000'000);
    c.slice = box({3, 1, 1}, 0);
    EXPECT_EQ(brute_force(c).ps, 4'000'000);
}

TEST(BruteForceTest, RingsAndLines) {
    for (int length = 2; length <= 7; ++length) {
        for (const unsigned wrapped : {0U, 1U}) {
            for (const Operation operation : gathering_operations()) {
                for (const Algorithm algorithm : {Algorithm::one_way, Algorithm::two_way}) {
                    for (const double latency : {0.0, 3e-7, 1e-6, 3e-5}) {
                        for (const double cap : {1e9, 4e4, 2e4}) {
                            Case c;
                            c.slice = box({length, 1, 1}, wrapped);
                            c.group = whole_axes(c.slice);
                            c.operation = operation;
                            c.algorithm = algorithm;
                            c.v = sim::Bytes(70001.0 * length);
                            c.options.message_cap = sim::Bytes(cap);
                            c.link = {.rate = sim::BytesPerSecond(9e10),
                                      .latency = sim::Seconds(latency)};
                            c.link.rule = sim::LatencyRule::additive;
                            expect_equal(c);
                            c.link.rule = sim::LatencyRule::floor;
                            expect_equal(c);
                            ASSERT_FALSE(HasFailure());
                        }
                    }
                }
            }
        }
    }
}

/// Several axes at once with the default chunks, wrapped, unwrapped and mixed.
TEST(BruteForceTest, SeveralAxes) {
    for (const topology::Point shape :
         {topology::Point{2, 3, 1}, topology::Point{4, 2, 1}, topology::Point{4, 3, 1},
          topology::Point{2, 2, 2}, topology::Point{2, 1, 4}, topology::Point{3, 2, 2}}) {
        for (const unsigned wrapped : {0U, 1U, 2U, 5U, 7U}) {
            for (const Operation operation : gathering_operations()) {
                Case c;
                c.slice = box(shape, wrapped);
                c.group = whole_axes(c.slice);
                c.operation = operation;
                c.algorithm = Algorithm::weighted;
                c.v = sim::Bytes(3e6);
                c.options.chunks = c.options.alike_chunks = c.options.chunks_in_waves = 3;
                c.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-6)};
                expect_equal(c);
                ASSERT_FALSE(HasFailure());
            }
        }
    }
}

TEST(BruteForceTest, RandomCases) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        Random random(seed);
        SCOPED_TRACE("seed " + std::to_string(seed));
        Case c = random_case(random, 8, 24);
        c.options.chunks = std::min(c.options.chunks, 3);
        c.options.alike_chunks = std::min(c.options.alike_chunks, 3);
        c.options.chunks_in_waves = std::min(c.options.chunks_in_waves, 3);
        expect_equal(c);
        ASSERT_FALSE(HasFailure());
    }
}

/// On a ring of 4 each chip sends 1000 B to either neighbour and 500 B in either direction to the
/// opposite chip. A link carries both hops of 500 B and one of 1000 B. Messages with two hops left
/// start first and take 50 ns; then come 1000 B, 100 ns; then the second hop, which arrived at 1
/// us, ends at 1.05 us. The collective ends at 2.05 us.
TEST(BruteForceTest, AllToAllByHand) {
    Case c;
    c.operation = Operation::all_to_all;
    c.slice = box({4, 1, 1}, 1);
    c.group = whole_axes(c.slice);
    c.v = sim::Bytes(16000);
    c.link = {.rate = sim::BytesPerSecond(1e10), .latency = sim::Seconds(1e-6)};
    EXPECT_EQ(brute_force(c).ps, 2'050'000);
    expect_equal(c);
}

TEST(BruteForceTest, AllToAllRandomCases) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Random random(seed);
        SCOPED_TRACE("seed " + std::to_string(seed));
        Case c = random_case(random, 8, 20);
        c.operation = Operation::all_to_all;
        c.algorithm = random.below(3) == 0 ? Algorithm::one_way : Algorithm::automatic;
        const double pair = c.v.value() / group_size(c.group) / group_size(c.group);
        c.options.message_cap = sim::Bytes(random.coin() ? c.v.value() : pair / 2.5);
        expect_equal(c);
        ASSERT_FALSE(HasFailure());
    }
}

/// Groups are whole twisted slices and their axes.
TEST(BruteForceTest, TwistedSlices) {
    for (const topology::Point shape : {topology::Point{2, 2, 4}, topology::Point{2, 4, 4}}) {
        for (const unsigned axes : {7U, 1U, 2U, 4U, 5U}) {
            for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter,
                                              Operation::all_reduce, Operation::all_to_all}) {
                for (const double latency : {0.0, 1e-7, 1e-5}) {
                    for (const double cap : {1e9, 3e3}) {
                        if (axes == 7U && cap < 1e9 && operation == Operation::all_reduce) {
                            continue;
                        }
                        Case c;
                        c.operation = operation;
                        c.slice = twisted(shape);
                        c.group = whole_axes(c.slice, axes);
                        c.algorithm = operation == Operation::all_to_all ? Algorithm::shortest
                                      : c.group.size() > 1               ? Algorithm::weighted
                                                                         : Algorithm::two_way;
                        c.v = sim::Bytes(1e4 * group_size(c.group));
                        c.options.message_cap = sim::Bytes(cap);
                        c.options.chunks = c.options.alike_chunks = c.options.chunks_in_waves = 1;
                        c.link = {.rate = sim::BytesPerSecond(9e10),
                                  .latency = sim::Seconds(latency)};
                        expect_equal(c);
                        ASSERT_FALSE(HasFailure());
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace podsim::collectives
