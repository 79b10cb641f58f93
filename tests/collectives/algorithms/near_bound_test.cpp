// Holds how close collectives over several rings come to the physical
// bound: every wrapped shape of multiples of 4 up to 16x20x28 with 1 GB
// over all axes, and every pair of axes with 10 GB, with the links of v5p.
#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "tests/collectives/carriers/checks.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {
namespace {

constexpr double kShareOfBound = 0.985;

Case wrapped_case(const topology::Point& shape, unsigned axes, Operation operation) {
    Case c;
    c.operation = operation;
    c.slice = box(shape, 7);
    c.group = whole_axes(c.slice, axes);
    c.algorithm = Algorithm::weighted;
    c.v = sim::Bytes(axes == 7 ? 1e9 : 1e10);
    c.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-6)};
    c.options.hop_bytes = sim::Bytes(9e4);
    return c;
}

/// Returns 140 shapes and their 83 pairs of axes.
std::vector<Case> all_cases(Operation operation) {
    std::vector<Case> cases;
    for (int x = 4; x <= 16; x += 4) {
        for (int y = 4; y <= 20; y += 4) {
            for (int z = 4; z <= 28; z += 4) {
                cases.push_back(wrapped_case({x, y, z}, 7, operation));
            }
        }
    }
    for (int i = 4; i <= 28; i += 4) {
        for (int j = 4; j <= 20; j += 4) {
            if (j <= 16 && i <= 20) {
                cases.push_back(wrapped_case({j, i, 4}, 3, operation));
            }
            if (j <= 16) {
                cases.push_back(wrapped_case({j, 4, i}, 5, operation));
            }
            cases.push_back(wrapped_case({4, j, i}, 6, operation));
        }
    }
    EXPECT_EQ(cases.size(), 140U + 83U);
    return cases;
}

sim::Time busiest(const Outcome& run) {
    sim::Time most{};
    for (const auto& link : run.result.links) {
        most = std::max(most, link.busy);
    }
    return most;
}

void expect_near_the_bound(Operation operation) {
    for (const Case& c : all_cases(operation)) {
        const double bound = physical_bound(c.call(), c.link.rate).value();
        const double time = run_on(folded(c), c).result.end.seconds();
        EXPECT_GE(bound / time, kShareOfBound) << describe(c);
        EXPECT_LE(bound, time) << describe(c);
    }
}

TEST(NearBoundTest, AllGather) {
    expect_near_the_bound(Operation::all_gather);
}

TEST(NearBoundTest, ReduceScatter) {
    expect_near_the_bound(Operation::reduce_scatter);
}

/// The phases of an AllReduce fill each other's gaps: a link is busy from the start to the end, and
/// the last message arrives one latency later.
TEST(NearBoundTest, NoLinkIdlesInAnAllReduce) {
    for (const Case& c : all_cases(Operation::all_reduce)) {
        const Outcome run = run_on(folded(c), c);
        EXPECT_EQ(run.result.end, busiest(run) + sim::round_up(c.link.latency)) << describe(c);
    }
}

/// Without latency no link idles in an AllGather or ReduceScatter over
/// three axes either, except for two ReduceScatters: z of 4x4x24 and 4x4x28
/// waits up to 8 us, 0.5 %, for x and y to reduce the largest chunk.
TEST(NearBoundTest, NoLinkIdlesWithoutLatency) {
    int waits = 0;
    for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter}) {
        for (Case c : all_cases(operation)) {
            if (c.group.size() < 3) {
                continue;
            }
            c.link.latency = {};
            c.options.hop_bytes = {};
            const Outcome run = run_on(folded(c), c);
            if (operation == Operation::reduce_scatter && c.slice.length(1) == 4 &&
                c.slice.length(0) == 4 && c.slice.length(2) >= 24) {
                EXPECT_LT(run.result.end - busiest(run), sim::Time{8'000'000}) << describe(c);
                ++waits;
                continue;
            }
            EXPECT_EQ(run.result.end, busiest(run)) << describe(c);
        }
    }
    EXPECT_EQ(waits, 2);
}

/// On lines, and on strides for which one order of the axes is best, the time is two sums of equal
/// chunks one after the other, and less than 1 % of latency.
TEST(NearBoundTest, LinesAndStrides) {
    const auto shaped = [](const topology::Point& shape, unsigned wrapped, Group group) {
        Case c = wrapped_case(shape, 7, Operation::all_gather);
        c.slice = box(shape, wrapped);
        c.group = std::move(group);
        return c;
    };
    const std::array cases{
        shaped({2, 4, 1}, 0, {{0, 1, 2}, {1, 1, 4}}),
        shaped({4, 8, 1}, 0, {{0, 1, 4}, {1, 1, 8}}),
        shaped({2, 2, 4}, 0, {{0, 1, 2}, {2, 1, 4}}),
        shaped({16, 16, 1}, 3, {{0, 1, 2}, {1, 1, 16}}),
        shaped({8, 16, 1}, 2, {{0, 1, 8}, {1, 1, 16}}),
        shaped({8, 8, 8}, 7, {{0, 4, 2}, {1, 1, 8}}),
        shaped({8, 8, 8}, 7, {{0, 4, 2}, {2, 2, 4}}),
        shaped({8, 8, 8}, 7, {{0, 4, 2}, {1, 1, 8}, {2, 2, 4}}),
    };
    for (Case c : cases) {
        for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter}) {
            c.operation = operation;
            const double bound = physical_bound(c.call(), c.link.rate).value();
            const double time = run_on(folded(c), c).result.end.seconds();
            EXPECT_GE(bound / time, kShareOfBound) << describe(c);
            EXPECT_LE(bound, time) << describe(c);
        }
    }
}

/// The group is x/2%2 and z%2 of a torus in the order x, z. Both factors carry V / 2 over one link,
/// in 24 chunks one after the other.
TEST(NearBoundTest, OneOrderGoesThroughItsPhasesInChunks) {
    for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter}) {
        Case c = wrapped_case({8, 8, 8}, 7, operation);
        c.group = {{0, 2, 2}, {2, 1, 2}};
        c.link.latency = {};
        c.options.hop_bytes = {};
        const double half = c.v.value() / 2 / c.link.rate.value();
        EXPECT_EQ(physical_bound(c.call(), c.link.rate).value(), half);
        EXPECT_NEAR(run_on(folded(c), c).result.end.seconds(), half * 25 / 24, 1e-7);
    }
}

}  // namespace
}  // namespace podsim::collectives
