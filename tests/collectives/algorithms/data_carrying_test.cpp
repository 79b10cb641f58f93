// Every algorithm and operation moves every byte to its destination, over all small shapes.
// Messages of a real run of the simulator carry sets of contributions (data_carrier.h).
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <vector>

#include "tests/collectives/carriers/checks.h"
#include "tests/collectives/carriers/collective_support.h"
#include "tests/collectives/carriers/data_carrier.h"

namespace podsim::collectives {
namespace {

/// Bytes of one member's block of V, before it is cut.
constexpr double kBlock = 48e3;

/// Returns the bytes that a group receives, in units of V: each of n members lacks n - 1 blocks.
double received_by_group(Operation operation, int members) {
    return (operation == Operation::all_reduce ? 2.0 : 1.0) * (members - 1);
}

/// Runs a case unfolded and checks all invariants of its data.
void prove_gathering(const Case& c) {
    std::optional<DataCarrier> carrier;
    const Outcome run = run_on(c.slice, c, [&](const CollectiveSchedule& built, sim::Workload&) {
        return &carrier.emplace(c, built);
    });
    carrier->check_result();
    ASSERT_EQ(carrier->error(), "") << describe(c);

    const int members = group_size(c.group);
    const std::vector<double>& received = carrier->received();
    const double all = std::accumulate(received.begin(), received.end(), 0.0);
    const double groups = static_cast<double>(c.slice.size()) / members;
    const double expected = groups * received_by_group(c.operation, members) * c.v.value();
    ASSERT_NEAR(all, expected, 1e-9 * expected) << describe(c);
    if (c.operation == Operation::all_gather) {
        for (const double at_member : received) {
            ASSERT_NEAR(at_member, c.v.value() * (members - 1) / members, 1e-9 * c.v.value())
                << describe(c);
        }
    }
    if (::testing::Test::HasFatalFailure()) {
        ADD_FAILURE() << describe(c);
    }
}

Case make_gathering(const topology::Lattice& slice, const Group& group, Operation operation,
                    Algorithm algorithm) {
    Case c;
    c.operation = operation;
    c.slice = slice;
    c.group = group;
    c.algorithm = algorithm;
    c.v = sim::Bytes(kBlock * group_size(group));
    c.options.chunks = 3;
    c.options.alike_chunks = 4;
    c.options.chunks_in_waves = 2;
    c.options.chunks_in_flight = 1;
    c.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-7)};
    return c;
}

/// Caps that leave a member's block whole, cut it in 2, and cut it in 4 and 6.
constexpr std::array kShareCaps{1e9, kBlock / 1.5, kBlock / 3.5, kBlock / 5};

void prove_gatherings(const topology::Lattice& slice, const Group& group) {
    for (const Operation operation : gathering_operations()) {
        for (const AlgorithmInfo& info : gathering_algorithms()) {
            for (const double cap : kShareCaps) {
                Case c = make_gathering(slice, group, operation, info.algorithm);
                c.options.message_cap = sim::Bytes(cap);
                prove_gathering(c);
                if (::testing::Test::HasFailure()) {
                    return;
                }
            }
        }
    }
}

TEST(DataCarryingTest, OneAxisWhole) {
    for (int length = 1; length <= 9; ++length) {
        for (const unsigned wrapped : {0U, 1U}) {
            const topology::Lattice slice = box({length, 1, 1}, wrapped);
            prove_gatherings(slice, whole_axes(slice));
        }
    }
}

/// Groups are x%2, x/2, x/2%2 and so on: every (stride, length) that tiles an axis, and pairs of
/// them with a gap between.
TEST(DataCarryingTest, OneAxisFactors) {
    for (const int length : {4, 6, 8, 9, 12}) {
        for (const unsigned wrapped : {0U, 1U}) {
            const topology::Lattice slice = box({length, 1, 1}, wrapped);
            for (int stride = 1; stride < length; ++stride) {
                for (int members = 2; stride * members <= length; ++members) {
                    if (length % (stride * members) == 0) {
                        prove_gatherings(slice, {{0, stride, members}});
                    }
                }
            }
        }
    }
    prove_gatherings(box({8, 1, 1}, 1), {{0, 1, 2}, {0, 4, 2}});   // x%2 x/4
    prove_gatherings(box({12, 1, 1}, 0), {{0, 1, 3}, {0, 6, 2}});  // x%3 x/6
}

/// Runs all operations and algorithms; caps and wraps alternate.
TEST(DataCarryingTest, TwoAxes) {
    std::size_t turn = 0;
    for (int x = 1; x <= 4; ++x) {
        for (int y = 1; y <= 4; ++y) {
            for (const unsigned wrapped : {0U, 1U, 2U, 3U}) {
                const topology::Lattice slice = box({x, y, 1}, wrapped);
                for (const Operation operation : gathering_operations()) {
                    for (const AlgorithmInfo& info : gathering_algorithms()) {
                        Case c =
                            make_gathering(slice, whole_axes(slice), operation, info.algorithm);
                        c.options.message_cap = sim::Bytes(kShareCaps[turn++ % 3]);
                        prove_gathering(c);
                        ASSERT_FALSE(HasFailure());
                    }
                }
            }
        }
    }
}

/// Runs all shapes, wraps, operations and algorithms.
TEST(DataCarryingTest, ThreeAxes) {
    std::size_t turn = 0;
    for (int shape = 0; shape < 64; ++shape) {
        for (unsigned wrapped = 0; wrapped < 8; ++wrapped) {
            const topology::Lattice slice =
                box({1 + shape / 16, 1 + shape / 4 % 4, 1 + shape % 4}, wrapped);
            for (const Operation operation : gathering_operations()) {
                for (const AlgorithmInfo& info : gathering_algorithms()) {
                    Case c = make_gathering(slice, whole_axes(slice), operation, info.algorithm);
                    c.options.chunks = slice.size() > 32 ? 1 : 3;
                    c.options.alike_chunks = slice.size() > 32 ? 1 : 4;
                    c.options.chunks_in_waves = slice.size() > 32 ? 1 : 2;
                    c.options.message_cap = sim::Bytes(kShareCaps[turn / 3 % 2]);
                    prove_gathering(c);
                    ASSERT_FALSE(HasFailure());
                }
                ++turn;
            }
        }
    }
}

/// Groups are products of whole axes, blocks and strides; all other settings are random too.
TEST(DataCarryingTest, RandomGroups) {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        prove_gathering(random_case(random, 8, 36));
        ASSERT_FALSE(HasFailure());
    }
}

}  // namespace
}  // namespace podsim::collectives
