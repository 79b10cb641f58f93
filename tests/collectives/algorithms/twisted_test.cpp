// AllGather, ReduceScatter and AllReduce on twisted tori: real contributions over the whole slice
// and over its axes, folded and unfolded, and their distance from the bound.
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "tests/collectives/carriers/checks.h"
#include "tests/collectives/carriers/data_carrier.h"
#include "tests/collectives/carriers/twisted_carrier.h"

namespace podsim::collectives {
namespace {

constexpr std::array kShapes{topology::Point{2, 2, 4}, topology::Point{2, 4, 4},
                             topology::Point{4, 4, 8}, topology::Point{4, 8, 8}};

template <class Carrier>
void prove_twisted(const Case& c) {
    std::optional<Carrier> carrier;
    const Outcome run = run_on(c.slice, c, [&](const CollectiveSchedule& built, sim::Workload&) {
        return &carrier.emplace(c, built);
    });
    carrier->check_result();
    ASSERT_EQ(carrier->error(), "") << describe(c);
    const int members = group_size(c.group);
    const std::vector<double>& received = carrier->received();
    const double expected = c.v.value() * c.slice.size() / members * (members - 1) *
                            (c.operation == Operation::all_reduce ? 2 : 1);
    ASSERT_NEAR(std::accumulate(received.begin(), received.end(), 0.0), expected, 1e-9 * expected)
        << describe(c);
    expect_fold_is_equal(c);
    if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << describe(c);
    }
}

Case make_twisted(const topology::Lattice& slice, const Group& group, Operation operation,
                  Algorithm algorithm) {
    Case c;
    c.operation = operation;
    c.slice = slice;
    c.group = group;
    c.algorithm = algorithm;
    c.v = sim::Bytes(48e3 * group_size(group));
    c.options.chunks = c.options.alike_chunks = c.options.chunks_in_waves =
        slice.size() > 100 ? 1 : 3;
    c.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-7)};
    return c;
}

/// Runs all algorithms, with a member's share whole,
/// and cut into several messages on the small slices.
TEST(TwistedTest, WholeSlicesCarryData) {
    for (const topology::Point& shape : kShapes) {
        const topology::Lattice slice = twisted(shape);
        for (const Operation operation : gathering_operations()) {
            for (const AlgorithmInfo& info : gathering_algorithms()) {
                for (const double cap : {1e9, 3e4}) {
                    if (slice.size() > 32 && cap < 1e9) {
                        continue;
                    }
                    Case c = make_twisted(slice, whole_axes(slice), operation, info.algorithm);
                    c.options.message_cap = sim::Bytes(cap);
                    EXPECT_EQ(folded(c).size(), 1);
                    prove_twisted<TwistedCarrier>(c);
                    ASSERT_FALSE(HasFailure());
                }
            }
        }
    }
}

/// The axis that wraps straight is a ring; the others are lines, as their ends are not joined.
TEST(TwistedTest, AxesCarryData) {
    for (const topology::Point& shape : kShapes) {
        const topology::Lattice slice = twisted(shape);
        for (const unsigned axes : {1U, 2U, 4U, 3U, 5U, 6U}) {
            const Group group = whole_axes(slice, axes);
            for (const topology::AxisFactor& factor : group) {
                const bool straight = factor.axis == 2 || (factor.axis == 1 && shape[1] > shape[0]);
                EXPECT_EQ(factor_kind(slice, factor).ring, straight);
            }
            for (const Operation operation : gathering_operations()) {
                const Algorithm algorithm =
                    group.size() > 1 ? Algorithm::weighted : Algorithm::two_way;
                prove_twisted<DataCarrier>(make_twisted(slice, group, operation, algorithm));
                ASSERT_FALSE(HasFailure());
            }
        }
    }
}

/// Every axis alone closes after 2k links, and in every order the product is the number of chips.
/// The figures by hand are for 4x4x8, where 4 steps along x or y are 4 steps along z.
TEST(TwistedTest, RingLengths) {
    for (const topology::Point& shape : kShapes) {
        const topology::Lattice slice = twisted(shape);
        const Group group = whole_axes(slice);
        std::vector<int> order{0, 1, 2};
        do {
            const std::vector<int> lengths = ring_lengths(slice, group, order);
            EXPECT_EQ(lengths[0] * lengths[1] * lengths[2], slice.size());
            EXPECT_EQ(lengths[0], 2 * shape[0]);
        } while (std::ranges::next_permutation(order).found);
    }
    const topology::Lattice cube = twisted({4, 4, 8});
    const Group group = whole_axes(cube);
    EXPECT_EQ(ring_lengths(cube, group, {2, 0, 1}), (std::vector<int>{8, 4, 4}));
    EXPECT_EQ(ring_lengths(cube, group, {0, 2, 1}), (std::vector<int>{8, 4, 4}));
    EXPECT_EQ(ring_lengths(cube, group, {0, 1, 2}), (std::vector<int>{8, 4, 4}));
}

TEST(TwistedTest, IsNearTheBound) {
    for (const topology::Point& shape : {topology::Point{4, 4, 8}, topology::Point{4, 8, 8},
                                         topology::Point{8, 8, 16}, topology::Point{8, 16, 16}}) {
        const topology::Lattice slice = twisted(shape);
        for (const Operation operation : gathering_operations()) {
            Case c = make_twisted(slice, whole_axes(slice), operation, Algorithm::automatic);
            c.options = {};
            c.v = sim::Bytes(1e9);
            c.link.latency = sim::Seconds(1e-6);
            const double bound = physical_bound(c.call(), c.link.rate).value();
            const double ratio = bound / run_on(folded(c), c).result.end.seconds();
            EXPECT_GE(ratio, 0.97) << describe(c);
            EXPECT_LE(ratio, 1) << describe(c);
        }
    }
}

}  // namespace
}  // namespace podsim::collectives
