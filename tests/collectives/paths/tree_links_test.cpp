// Trees that join the members of a group, against Prim's,
// and their load on links, for any weights of the axes.

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

#include "collectives/paths/factors.h"
#include "collectives/paths/link_load.h"

namespace podsim::collectives {
namespace {

using topology::Lattice;
using topology::Point;

Lattice slice_of(Point lengths, std::array<bool, 3> wrapped) {
    Lattice slice;
    slice.lengths = lengths;
    slice.wrapped = wrapped;
    return slice;
}

/// Returns the weighted number of links between two chips.
double apart(const Lattice& slice, const AxisWeights& weights, const Point& a, const Point& b) {
    double links = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        const int along = std::abs(a[i] - b[i]);
        links += weights.at(i) *
                 (slice.wraps(axis) ? std::min(along, slice.length(axis) - along) : along);
    }
    return links;
}

std::vector<Point> members_of(const Group& group) {
    std::vector<Point> members{{}};
    for (const topology::AxisFactor& factor : group) {
        std::vector<Point> more;
        for (const Point& member : members) {
            for (int i = 0; i < factor.length; ++i) {
                more.push_back(member + topology::along(factor.axis, i * factor.stride));
            }
        }
        members = more;
    }
    return members;
}

/// Returns the weight of Prim's tree: the nearest member outside joins, until all have.
double shortest_tree(const Lattice& slice, const AxisWeights& weights,
                     const std::vector<Point>& members) {
    std::vector<double> nearest(members.size(), std::numeric_limits<double>::max());
    std::vector<bool> joined(members.size());
    nearest.front() = 0;
    double links = 0;
    for (std::size_t round = 0; round < members.size(); ++round) {
        std::size_t next = members.size();
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (!joined[i] && (next == members.size() || nearest[i] < nearest[next])) {
                next = i;
            }
        }
        joined[next] = true;
        links += nearest[next];
        for (std::size_t i = 0; i < members.size(); ++i) {
            nearest[i] = std::min(nearest[i], apart(slice, weights, members[next], members[i]));
        }
    }
    return links;
}

double tree(const Group& group, const AxisWeights& weights) {
    const auto links = tree_links(gaps_between(group), weights);
    return links[0] * weights[0] + links[1] * weights[1] + links[2] * weights[2];
}

// On a ring of 16, x%2 and x/8 are at 0, 1, 8, 9, with gaps of 1, 7, 1 and 7; the tree leaves out
// one gap of 7. Neighbours take n - 1 links.
TEST(TreeLinks, ByHand) {
    EXPECT_EQ(gaps_between({{0, 1, 2}, {0, 8, 2}})[0], (std::vector<Gap>{{1, 2}, {7, 1}}));
    EXPECT_EQ(tree({{0, 1, 2}, {0, 8, 2}}, {1, 0, 0}), 9);
    EXPECT_EQ(tree({{0, 1, 16}}, {1, 0, 0}), 15);
    EXPECT_EQ(tree({{0, 4, 4}}, {1, 0, 0}), 12);
    // A line of 4 rows of 16 takes 4 x 15 links in the rows and 3 between them; along y alone 3. If
    // y has less weight than x, it takes 16 x 3 along y and 15 along x.
    EXPECT_EQ(tree({{0, 1, 16}, {1, 1, 4}}, {1, 1, 0}), 63);
    EXPECT_EQ(tree({{0, 1, 16}, {1, 1, 4}}, {0, 1, 0}), 3);
    EXPECT_EQ(tree({{0, 1, 16}, {1, 1, 4}}, {4, 1, 0}), 4 * 15 + 16 * 3);
    EXPECT_EQ(tree({{0, 1, 16}}, {0, 1, 0}), 0);
}

class Drawn {
public:
    explicit Drawn(std::uint64_t seed) : random_(seed) {}

    int one_of(std::vector<int> values) { return values[random_() % values.size()]; }
    double weight() { return one_of({0, 1, 1, 2, 3, 7}); }
    Lattice slice() {
        return slice_of({one_of({4, 8, 12}), one_of({4, 6, 8}), one_of({1, 2, 4})},
                        {random_() % 2 == 0, random_() % 2 == 0, random_() % 2 == 0});
    }
    Group group(const Lattice& slice) {
        Group group;
        for (int axis = 0; axis < 3; ++axis) {
            int stride = 1;
            while (stride < slice.length(axis)) {
                const int rest = slice.length(axis) / stride;
                const int length = rest % 2 == 0 ? 2 : rest % 3 == 0 ? 3 : rest;
                if (random_() % 2 == 0) {
                    group.push_back({axis, stride, length});
                }
                stride *= length;
            }
        }
        return group;
    }

private:
    std::mt19937_64 random_;
};

TEST(TreeLinks, OfRandomGroups) {
    Drawn drawn(20261124);
    for (int round = 0; round < 400; ++round) {
        const Lattice slice = drawn.slice();
        const Group group = drawn.group(slice);
        const AxisWeights weights{drawn.weight(), drawn.weight(), drawn.weight()};
        // Along an axis of weight 0 members coincide, at no cost.
        EXPECT_EQ(tree(group, weights), shortest_tree(slice, weights, members_of(group)));
    }
}

// A ring of 2 (every fourth chip along x) and a ring of 8 along y carry n - 1 = 15 parts of the
// array over 2 / 4 + 2 links. y alone would give 7 on two links of y, and x alone less.
TEST(LinkLoad, OfStridedRingsByHand) {
    const Lattice slice = slice_of({8, 8, 1}, {true, true, false});
    LinkLoad load;
    load.add_tree(gaps_between({{0, 4, 2}, {1, 1, 8}}), 1);
    const LinkLoad::Most most = load.most(links_by_axis(slice));
    EXPECT_DOUBLE_EQ(most.bytes, 15 / (2.0 / 4 + 2));
    EXPECT_EQ(most.axes, 3U);
    // Another 20 along y fill y, and no tree needs more of x than 4 x (2 - 1).
    load.add_along(1, 20);
    EXPECT_DOUBLE_EQ(load.most(links_by_axis(slice)).bytes, 35 / (2.0 / 4 + 2));
    load.add_along(1, 80);
    EXPECT_DOUBLE_EQ(load.most(links_by_axis(slice)).bytes, (100 + 7) / 2.0);
    EXPECT_EQ(load.most(links_by_axis(slice)).axes, 2U);
}

// No weights give a larger bound, and the best weights of a grid come close.
TEST(LinkLoad, NoOtherWeightsTellMore) {
    Drawn drawn(20261128);
    for (int round = 0; round < 200; ++round) {
        const Lattice slice = drawn.slice();
        LinkLoad load;
        for (int tree = 0; tree < 3; ++tree) {
            load.add_tree(gaps_between(drawn.group(slice)), drawn.one_of({1, 5, 20}));
        }
        load.add_along(drawn.one_of({0, 1}), drawn.one_of({0, 10, 100}));
        const AxisWeights links = links_by_axis(slice);
        const double most = load.most(links).bytes;
        double found = 0;
        for (int x = 0; x <= 24; ++x) {
            for (int y = 0; x + y <= 24; ++y) {
                const AxisWeights weights{x / 24.0, y / 24.0, (24 - x - y) / 24.0};
                const double over =
                    weights[0] * links[0] + weights[1] * links[1] + weights[2] * links[2];
                if (over > 0) {
                    const AxisWeights least = load.least(weights);
                    found = std::max(found, (weights[0] * least[0] + weights[1] * least[1] +
                                             weights[2] * least[2]) /
                                                over);
                }
            }
        }
        EXPECT_LE(found, most * (1 + 1e-12));
        EXPECT_GE(found, most * 0.85);  // the grid is coarse
    }
}

}  // namespace
}  // namespace podsim::collectives
