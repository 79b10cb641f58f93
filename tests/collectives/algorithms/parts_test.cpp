// Division of an array among axis orders: exact small optimisations, checked by hand and by grid.
#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "collectives/vocabulary/algorithm.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {
namespace {

/// Returns the link time per byte that each factor spends on one order, as algorithm.h defines it,
/// in units of one member's share.
std::vector<double> loads_of(const topology::Lattice& slice, const Group& group,
                             const std::vector<int>& order) {
    std::vector<double> load(group.size());
    double gathered = 1;
    for (const int index : order) {
        const topology::AxisFactor& f = group[static_cast<std::size_t>(index)];
        const bool ring = f.stride * f.length == slice.length(f.axis) && slice.wraps(f.axis);
        load[static_cast<std::size_t>(index)] =
            (f.length - 1) * gathered * f.stride / (ring ? 2.0 : 1.0);
        gathered *= f.length;
    }
    return load;
}

std::vector<double> loads_of(const topology::Lattice& slice, const Group& group,
                             const std::vector<Part>& parts) {
    std::vector<double> total(group.size());
    for (const Part& part : parts) {
        const std::vector<double> load = loads_of(slice, group, part.order);
        for (std::size_t f = 0; f < load.size(); ++f) {
            total[f] += part.weight * load[f];
        }
    }
    return total;
}

double largest(const std::vector<double>& loads) {
    return *std::ranges::max_element(loads);
}

double sum_of_weights(const std::vector<Part>& parts) {
    double sum = 0;
    for (const Part& part : parts) {
        EXPECT_GT(part.weight, 0);
        sum += part.weight;
    }
    return sum;
}

/// Returns the smallest maximum load over a grid of weights,
/// for up to three orders, or six in steps of 1/12.
double least_on_grid(const std::vector<std::vector<double>>& loads, std::size_t order, int left,
                     int steps, const std::vector<double>& so_far) {
    if (order + 1 == loads.size() || left == 0) {
        std::vector<double> total = so_far;
        for (std::size_t f = 0; f < total.size(); ++f) {
            total[f] += loads[order][f] * left / steps;
        }
        return largest(total);
    }
    double least = std::numeric_limits<double>::infinity();
    for (int take = 0; take <= left; ++take) {
        std::vector<double> total = so_far;
        for (std::size_t f = 0; f < total.size(); ++f) {
            total[f] += loads[order][f] * take / steps;
        }
        least = std::min(least, least_on_grid(loads, order + 1, left - take, steps, total));
    }
    return least;
}

/// Two rings of 2 and 4: order x y loads x with 1/2 and y with 2 x 3/2 =
/// 3, order y x loads y with 3/2 and x with 4/2 = 2. The loads are equal
/// if w/2 + 2 (1-w) = 3 w + 3/2 (1-w), so w = 1/6, and each load is 7/4.
TEST(DivideTest, ByHandOnTwoRings) {
    const topology::Lattice slice = box({2, 4, 1}, 3);
    const Group group = whole_axes(slice);
    const std::vector<Part> parts = divide(slice, group, Algorithm::weighted);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].order, (std::vector<int>{0, 1}));
    EXPECT_NEAR(parts[0].weight, 1.0 / 6, 1e-12);
    EXPECT_NEAR(parts[1].weight, 5.0 / 6, 1e-12);
    for (const double load : loads_of(slice, group, parts)) {
        EXPECT_NEAR(load, 7.0 / 4, 1e-12);
    }
}

/// A ring of 4 and a line of 4: x y loads 3/2 and 12, y x loads 6 and 3. The loads are equal if 3/2
/// w + 6 (1-w) = 12 w + 3 (1-w), w = 2/9, load 5.
TEST(DivideTest, ByHandOnARingAndALine) {
    const topology::Lattice slice = box({4, 4, 1}, 1);
    const Group group = whole_axes(slice);
    const std::vector<Part> parts = divide(slice, group, Algorithm::weighted);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_NEAR(parts[0].weight, 2.0 / 9, 1e-12);
    for (const double load : loads_of(slice, group, parts)) {
        EXPECT_NEAR(load, 5.0, 1e-12);
    }
}

/// A cube is symmetric: all six orders get a sixth each.
TEST(DivideTest, ACubeTakesAllOrdersAlike) {
    const topology::Lattice slice = box({4, 4, 4}, 7);
    const std::vector<Part> parts = divide(slice, whole_axes(slice), Algorithm::weighted);
    ASSERT_EQ(parts.size(), 6U);
    for (const Part& part : parts) {
        EXPECT_NEAR(part.weight, 1.0 / 6, 1e-12);
    }
}

TEST(DivideTest, TheOtherAlgorithms) {
    const topology::Lattice slice = box({4, 2, 3}, 7);
    const Group group = whole_axes(slice);
    for (const Algorithm algorithm : {Algorithm::one_way, Algorithm::two_way}) {
        const std::vector<Part> parts = divide(slice, group, algorithm);
        ASSERT_EQ(parts.size(), 1U);
        EXPECT_EQ(parts[0].order, (std::vector<int>{0, 1, 2}));
        EXPECT_EQ(parts[0].weight, 1);
    }
    const std::vector<Part> rotated = divide(slice, group, Algorithm::equal_parts);
    ASSERT_EQ(rotated.size(), 3U);
    EXPECT_EQ(rotated[1].order, (std::vector<int>{1, 2, 0}));
    EXPECT_EQ(rotated[2].order, (std::vector<int>{2, 0, 1}));
    EXPECT_NEAR(sum_of_weights(rotated), 1, 1e-12);
    EXPECT_TRUE(divide(slice, {}, Algorithm::weighted).empty());
    EXPECT_EQ(divide(slice, {{0, 1, 4}}, Algorithm::automatic).size(), 1U);
    EXPECT_EQ(divide(slice, group, Algorithm::automatic).size(),
              divide(slice, group, Algorithm::weighted).size());
}

/// No other weights are better. The sum over factors of load x links / links_per_hop is n - 1 for
/// every order, so no largest load is below (n-1) / sum of links; if the division reaches that, all
/// loads are equal. If it does not, a grid of weights must not find less.
TEST(DivideTest, LargestLoadIsLeast) {
    int equal = 0;
    int unequal = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        const topology::Lattice slice = random_slice(random, 9, 300);
        const Group group = random_group(random, slice);
        if (group.size() > 3) {
            continue;
        }
        const std::vector<Part> parts = divide(slice, group, Algorithm::weighted);
        EXPECT_NEAR(sum_of_weights(parts), 1, 1e-12);
        const std::vector<double> loads = loads_of(slice, group, parts);
        const double worst = largest(loads);

        double links = 0;
        double carried = 0;
        for (std::size_t f = 0; f < group.size(); ++f) {
            const bool ring = factor_kind(slice, group[f]).ring;
            const double capacity = (ring ? 2.0 : 1.0) / group[f].stride;
            links += capacity;
            carried += loads[f] * capacity;
        }
        const double n = group_size(group);
        EXPECT_NEAR(carried, n - 1, 1e-9 * n);
        const double bound = (n - 1) / links;
        EXPECT_GE(worst, bound * (1 - 1e-6));
        if (worst <= bound * (1 + 1e-5)) {
            ++equal;
            continue;
        }
        ++unequal;
        std::vector<int> order(group.size());
        std::iota(order.begin(), order.end(), 0);
        std::vector<std::vector<double>> by_order;
        do {
            by_order.push_back(loads_of(slice, group, order));
        } while (std::ranges::next_permutation(order).found);
        const double grid = least_on_grid(by_order, 0, 12, 12, std::vector<double>(group.size()));
        EXPECT_LE(worst, grid * (1 + 1e-5));
    }
    EXPECT_GT(equal, 200);
    EXPECT_GT(unequal, 15);
}

}  // namespace
}  // namespace podsim::collectives
