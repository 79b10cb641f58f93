// Closed forms against the simulator, to the picosecond, and against sums by hand.
#include "collectives/catalogue/closed_form.h"

#include <array>
#include <gtest/gtest.h>
#include <optional>
#include <string>

#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {
namespace {

std::optional<sim::Time> formula(const Case& c) {
    return closed_form(c.call(), c.options, c.link);
}

/// Returns a case of n chips on one axis, with blocks of `block` bytes in messages of at most
/// `cap`, at 1e9 B/s, so that a byte takes 1000 ps.
Case on_axis(int n, bool wrapped, Operation operation, Algorithm algorithm, double block,
             double cap, double latency_ps, sim::LatencyRule rule) {
    Case c;
    c.slice = box({n, 1, 1}, wrapped ? 1 : 0);
    c.group = whole_axes(c.slice);
    c.operation = operation;
    c.algorithm = algorithm;
    c.v = sim::Bytes(block * n);
    c.options.message_cap = sim::Bytes(cap);
    c.link = {.rate = sim::BytesPerSecond(1e9),
              .latency = sim::Seconds(latency_ps * 1e-12),
              .rule = rule};
    return c;
}

TEST(ClosedFormTest, EqualsTheSimulationToThePicosecond) {
    int held = 0;
    for (int n = 1; n <= 12; ++n) {
        for (const bool wrapped : {false, true}) {
            for (const Operation operation : gathering_operations()) {
                for (const Algorithm algorithm : {Algorithm::one_way, Algorithm::two_way}) {
                    // 1000 B is a whole number of picoseconds, 997.3 B is not.
                    for (const double block : {1000.0, 997.3}) {
                        // 1, 2, 4, 6 and 10 messages a block.
                        for (const double cap : {1000.0, 500.0, 251.0, 170.0, 100.0}) {
                            // Latencies are none, tiny, below, about and above half a block, about
                            // and above a block, dominating.
                            for (const double ps : {0.0, 1.0, 9e4, 3.3e5, 4.99e5, 5.01e5, 7e5,
                                                    9.95e5, 1.02e6, 1.7e6, 1e7}) {
                                for (const auto rule :
                                     {sim::LatencyRule::additive, sim::LatencyRule::floor}) {
                                    const Case c = on_axis(n, wrapped, operation, algorithm, block,
                                                           cap, ps, rule);
                                    const std::optional<sim::Time> exact = formula(c);
                                    if (!exact) {
                                        ASSERT_TRUE(operation == Operation::all_reduce && !wrapped);
                                        continue;
                                    }
                                    ++held;
                                    EXPECT_EQ(exact->ps, run_on(c.slice, c).result.end.ps)
                                        << describe(c);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(held, 20000);
}

struct ByHand {
    const char* derivation;
    int n;
    bool wrapped;
    Operation operation;
    Algorithm algorithm;
    double cap;
    double latency_ps;
    sim::LatencyRule rule;
    std::int64_t ps;
};

/// Blocks of 1000 B take 1e6 ps each: m messages of tau = 1e6 / m.
TEST(ClosedFormTest, ByHand) {
    constexpr auto kGather = Operation::all_gather;
    constexpr auto kReduce = Operation::reduce_scatter;
    constexpr auto kAdditive = sim::LatencyRule::additive;
    constexpr auto kFloor = sim::LatencyRule::floor;
    const std::array rows{
        ByHand{"one step either way: tau + a = 1 + 0.3 us", 3, true, kGather, Algorithm::two_way,
               1000, 3e5, kAdditive, 1'300'000},
        ByHand{"one-way, 2 steps: 2 (1 + 0.3)", 3, true, kGather, Algorithm::one_way, 1000, 3e5,
               kAdditive, 2'600'000},
        ByHand{"whole block, then half: (1 + 0.3) + (0.5 + 0.3)", 4, true, kGather,
               Algorithm::two_way, 1000, 3e5, kAdditive, 2'100'000},
        ByHand{"tau 0.25, the link never idles: 4 tau + 2 tau + a", 4, true, kGather,
               Algorithm::two_way, 250, 3e5, kAdditive, 1'800'000},
        ByHand{"tau 0.25, the first of step 2 comes at tau + a = 1.25: + 2 tau + a", 4, true,
               kGather, Algorithm::two_way, 250, 1e6, kAdditive, 2'750'000},
        ByHand{"the same with the half block first", 4, true, kReduce, Algorithm::two_way, 250, 1e6,
               kAdditive, 2'750'000},
        ByHand{"line of 4: 3 blocks over the last link, + a", 4, false, kGather, Algorithm::two_way,
               500, 3e5, kAdditive, 3'300'000},
        ByHand{"line of 4, a = 2: (tau + a) twice, + 2 tau + a = 2 x 2.5 + 1 + 2", 4, false,
               kReduce, Algorithm::two_way, 500, 2e6, kAdditive, 8'000'000},
        ByHand{"floor, bandwidth: 1 + max(0.5, 0.4)", 4, true, kGather, Algorithm::two_way, 1000,
               4e5, kFloor, 1'500'000},
        ByHand{"floor, the half step waits for latency: 1 + max(0.5, 0.7)", 4, true, kReduce,
               Algorithm::two_way, 500, 7e5, kFloor, 1'700'000},
        ByHand{"floor, latency alone: 3 steps of 5", 4, false, kReduce, Algorithm::two_way, 250,
               5e6, kFloor, 15'000'000},
        ByHand{"ReduceScatter and AllGather: 2 (1 + 0.3)", 3, true, Operation::all_reduce,
               Algorithm::two_way, 1000, 3e5, kAdditive, 2'600'000},
    };
    for (const ByHand& row : rows) {
        SCOPED_TRACE(row.derivation);
        const Case c = on_axis(row.n, row.wrapped, row.operation, row.algorithm, 1000, row.cap,
                               row.latency_ps, row.rule);
        EXPECT_EQ(formula(c).value_or(sim::Time{-1}).ps, row.ps);
        EXPECT_EQ(run_on(c.slice, c).result.end.ps, row.ps);
    }
}

TEST(ClosedFormTest, OnlyWhereThereIsOne) {
    Case c = on_axis(4, true, Operation::all_gather, Algorithm::two_way, 1000, 1000, 0,
                     sim::LatencyRule::additive);
    c.group = {{0, 2, 2}};
    EXPECT_FALSE(formula(c)) << "strided";
    c.slice = box({4, 4, 1}, 3);
    c.group = whole_axes(c.slice);
    EXPECT_FALSE(formula(c)) << "two factors";
    c.group = {};
    EXPECT_EQ(formula(c), sim::Time{}) << "one member";
    c = on_axis(4, false, Operation::all_reduce, Algorithm::two_way, 1000, 1000, 0,
                sim::LatencyRule::additive);
    EXPECT_FALSE(formula(c)) << "AllReduce on a line";
}

/// There is no closed form between slices, for several factors or for strided ones.
TEST(ClosedFormTest, NothingForOthers) {
    CollectiveCall call{.operation = Operation::all_gather,
                        .slice = box({8, 2, 1}, 3),
                        .members = {{{0, 1, 8}}},
                        .bytes = sim::Bytes(8)};
    const LinkModel link{.rate = sim::BytesPerSecond(1), .latency = {}};
    EXPECT_TRUE(closed_form(call, {}, link).has_value());
    call.members.across = {1, 2};
    EXPECT_EQ(closed_form(call, {}, link), std::nullopt);
    call.members = {{{0, 2, 4}}};
    EXPECT_EQ(closed_form(call, {}, link), std::nullopt);
    call.operation = Operation::all_reduce;
    EXPECT_EQ(closed_form(call, {}, link), std::nullopt);
    call.members = {whole_axes(call.slice)};
    EXPECT_EQ(closed_form(call, {}, link), std::nullopt);
    call.members = {};
    EXPECT_EQ(closed_form(call, {}, link), sim::Time{});
}

}  // namespace
}  // namespace podsim::collectives
