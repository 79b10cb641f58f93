// Compares the lower bounds of the bytes that AllToAlls and permutes carry over each axis with
// figures by hand and with the bytes on the links of their shortest routes.
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "collectives/algorithms/all_to_all.h"
#include "collectives/algorithms/permute.h"
#include "collectives/paths/ports.h"
#include "tests/collectives/carriers/checks.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {
namespace {

constexpr double kPair = 48e3;
// Carried bytes are counted in units of 1/1024 byte, for each message.
constexpr double kRounding = 1e-6;

Case exchange_on(const topology::Lattice& slice, const Group& group) {
    Case c;
    c.operation = Operation::all_to_all;
    c.slice = slice;
    c.group = group;
    c.v = sim::Bytes(kPair * group_size(group) * group_size(group));
    c.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-7)};
    return c;
}

/// Bytes carried in a run, by axis, by direction and by chip
/// along the axis, as the mean over the lines of the axis.
struct Played {
    std::array<double, topology::kAxes> on_axis{};
    std::array<std::array<std::vector<double>, 2>, topology::kAxes> lines{};
};

Played played(const Case& c) {
    const Outcome run = run_on(c.slice, c);
    Played all;
    const double chips = c.slice.size();
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        for (const int direction : {1, -1}) {
            std::vector<double>& line = all.lines.at(a).at(direction > 0 ? 0 : 1);
            line.resize(static_cast<std::size_t>(c.slice.length(axis)));
            for (int chip = 0; chip < c.slice.size(); ++chip) {
                const std::size_t link =
                    static_cast<std::size_t>(chip) * run.workload.machine.ports +
                    port_of(axis, direction);
                const double bytes = run.result.links[link].carried().value();
                all.on_axis.at(a) += bytes / chips;
                line.at(static_cast<std::size_t>(c.slice.point(chip)[a])) +=
                    bytes * c.slice.length(axis) / chips;
            }
        }
    }
    return all;
}

void expect_near(double value, double expected) {
    EXPECT_NEAR(value, expected, kRounding * (expected + kPair));
}

void prove_least_carried(const Case& c) {
    const LeastCarried least = c.operation == Operation::permute ? permute_carried(c.call())
                                                                 : all_to_all_carried(c.call());
    const Played links = played(c);
    expect_near(least.all.value(), links.on_axis[0] + links.on_axis[1] + links.on_axis[2]);
    for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
        if (c.slice.twisted()) {
            EXPECT_EQ(least.on_axis.at(axis).value(), 0);
            continue;
        }
        expect_near(least.on_axis.at(axis).value(), links.on_axis.at(axis));
        if (c.slice.wraps(static_cast<int>(axis))) {
            EXPECT_TRUE(least.up.at(axis).empty() && least.down.at(axis).empty());
            continue;
        }
        // A link down is named by its lower end; the run counts it at its upper end.
        const std::vector<double>& up = links.lines.at(axis)[0];
        const std::vector<double>& down = links.lines.at(axis)[1];
        ASSERT_EQ(least.up.at(axis).size(), up.size());
        ASSERT_EQ(least.down.at(axis).size(), down.size());
        for (std::size_t chip = 0; chip < up.size(); ++chip) {
            expect_near(least.up.at(axis)[chip], up[chip]);
            expect_near(least.down.at(axis)[chip], chip + 1 < down.size() ? down[chip + 1] : 0);
        }
    }
    if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << describe(c);
    }
}

// On a ring of 4 a chip sends V / 16 over 0 + 1 + 2 + 1 links. On a line of 4, 2 x 2 pairs cross
// the middle link and 3 cross each other link: 2 x 10 links of V / 16, by 4 chips.
TEST(AllToAllCarried, OneAxisByHand) {
    Case c = exchange_on(box({4, 1, 1}, 1), {{0, 1, 4}});
    c.v = sim::Bytes(16);
    EXPECT_DOUBLE_EQ(all_to_all_carried(c.call()).all.value(), 4);
    EXPECT_DOUBLE_EQ(all_to_all_carried(c.call()).on_axis[0].value(), 4);
    c.slice = box({4, 1, 1}, 0);
    const LeastCarried line = all_to_all_carried(c.call());
    EXPECT_DOUBLE_EQ(line.all.value(), 5);
    EXPECT_EQ(line.up[0], (std::vector<double>{3, 4, 3, 0}));
    EXPECT_EQ(line.down[0], line.up[0]);
}

// The last two members of a line of 4 take twice the mean. 2 x 2 pairs of 2 cross the middle, 3 of
// 2 the last link, 1 x 2 of 2 the first; down go the pairs from the last member to the one before
// it. Returning, the directions are swapped.
TEST(AllToAllCarried, UnequalMembersByHand) {
    Case c = exchange_on(box({4, 1, 1}, 0), {{0, 1, 4}});
    c.v = sim::Bytes(16);
    c.ends.loads = {0, 0, 2, 2};
    const LeastCarried line = all_to_all_carried(c.call());
    EXPECT_EQ(line.up[0], (std::vector<double>{4, 8, 6, 0}));
    EXPECT_EQ(line.down[0], (std::vector<double>{0, 0, 2, 0}));
    c.ends.returning = true;
    const LeastCarried back = all_to_all_carried(c.call());
    EXPECT_EQ(back.down[0], line.up[0]);
    EXPECT_EQ(back.up[0], line.down[0]);
}

TEST(AllToAllCarried, IsWhatShortestRoutesPutOnLinks) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        const Case drawn = random_case(random, 8, 36);
        SCOPED_TRACE("seed " + std::to_string(seed));
        prove_least_carried(exchange_on(drawn.slice, drawn.group));
        ASSERT_FALSE(HasFailure());
    }
}

TEST(AllToAllCarried, OfUnequalMembersToo) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Random random(seed);
        const Case drawn = random_case(random, 8, 24);
        Case c = exchange_on(drawn.slice, drawn.group);
        const int members = group_size(c.group);
        double sum = 0;
        for (int member = 0; member < members; ++member) {
            c.ends.loads.push_back(random.between(0, 4));
            sum += c.ends.loads.back();
        }
        if (sum == 0) {
            continue;
        }
        for (double& load : c.ends.loads) {
            load *= members / sum;
        }
        c.ends.returning = random.coin();
        SCOPED_TRACE("seed " + std::to_string(seed));
        prove_least_carried(c);
        ASSERT_FALSE(HasFailure());
    }
}

TEST(AllToAllCarried, TwistedSlices) {
    for (const topology::Point shape : {topology::Point{2, 2, 4}, topology::Point{2, 4, 4}}) {
        const topology::Lattice slice = twisted(shape);
        for (const unsigned axes : {7U, 1U, 6U}) {
            prove_least_carried(exchange_on(slice, whole_axes(slice, axes)));
        }
    }
}

Case permute_on(const topology::Lattice& slice, const Group& group, int shift) {
    Case c = exchange_on(slice, group);
    c.operation = Operation::permute;
    c.algorithm = Algorithm::shortest;
    c.v = sim::Bytes(kPair * group_size(group));
    c.ends.shift = shift;
    return c;
}

// On a ring of 8 with shift 3 a share of V / 8 takes 3 links. On a line of 4 with shift 1 three
// shares take one link each, and the last goes back over all.
TEST(PermuteCarried, ByHand) {
    Case c = permute_on(box({8, 1, 1}, 1), {{0, 1, 8}}, 3);
    c.v = sim::Bytes(8);
    EXPECT_DOUBLE_EQ(permute_carried(c.call()).on_axis[0].value(), 3);
    c = permute_on(box({4, 1, 1}, 0), {{0, 1, 4}}, 1);
    c.v = sim::Bytes(4);
    const LeastCarried line = permute_carried(c.call());
    EXPECT_DOUBLE_EQ(line.all.value(), 6.0 / 4);
    EXPECT_EQ(line.up[0], (std::vector<double>{1, 1, 1, 0}));
    EXPECT_EQ(line.down[0], line.up[0]);
}

TEST(PermuteCarried, IsWhatShortestRoutesPutOnLinks) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        const Case drawn = random_case(random, 8, 36);
        SCOPED_TRACE("seed " + std::to_string(seed));
        prove_least_carried(
            permute_on(drawn.slice, drawn.group, random.between(1, group_size(drawn.group))));
        ASSERT_FALSE(HasFailure());
    }
    for (const topology::Point shape : {topology::Point{2, 2, 4}, topology::Point{2, 4, 4}}) {
        prove_least_carried(permute_on(twisted(shape), whole_axes(twisted(shape)), 5));
    }
}

}  // namespace
}  // namespace podsim::collectives
