#include "topology/mesh/fold.h"

#include <gtest/gtest.h>
#include <set>

#include "tests/topology/lattice_support.h"

namespace podsim::topology {
namespace {

using Groups = std::vector<std::vector<AxisFactor>>;
using Wrapped = std::array<bool, kAxes>;

Lattice torus(const char* shape) {
    return box(shape, 7);
}

Lattice fold_of(const Lattice& slice, const std::vector<const char*>& groups) {
    Groups parsed;
    for (const char* text : groups) {
        parsed.push_back(parse_factors(text, slice));
    }
    return fold(slice, parsed);
}

TEST(Fold, PeriodsByRule) {
    const Lattice pod = torus("16x20x28");
    EXPECT_EQ(fold_of(pod, {}).lengths, (Point{1, 1, 1}));
    EXPECT_EQ(fold_of(pod, {"x y z"}).lengths, (Point{1, 1, 1}));
    EXPECT_EQ(fold_of(pod, {"x"}).lengths, (Point{1, 1, 1}));
    EXPECT_EQ(fold_of(pod, {"x%4"}).lengths, (Point{4, 1, 1}));
    EXPECT_EQ(fold_of(pod, {"x/4"}).lengths, (Point{1, 1, 1}));
    EXPECT_EQ(fold_of(pod, {"x/2%4"}).lengths, (Point{8, 1, 1}));
    // In the quick-start mesh x%4 needs 4, z%2 needs 2, the outermost factors need nothing.
    EXPECT_EQ(fold_of(pod, {"x/4 y z/2", "z%2", "x%4"}).lengths, (Point{4, 1, 2}));
    // With blocks of 4 in one group and strided blocks of 10 in another: lcm(4, 2 * 5) = 20.
    EXPECT_EQ(fold_of(pod, {"y%4", "y/2%5"}).lengths, (Point{1, 20, 1}));
    EXPECT_EQ(fold_of(pod, {"x/4 y z/2", "z%2", "x%4"}).wrapped, (Wrapped{true, true, true}));
}

TEST(Fold, AnUnwrappedAxisInUseKeepsItsLengthAndEnds) {
    Lattice slice = torus("8x16x1");
    slice.wrapped = {false, true, false};
    const Lattice used = fold_of(slice, {"x%2", "y"});
    EXPECT_EQ(used.lengths, (Point{8, 1, 1}));
    EXPECT_EQ(used.wrapped, (Wrapped{false, true, true}));
    const Lattice unused = fold_of(slice, {"y"});
    EXPECT_EQ(unused.lengths, (Point{1, 1, 1}));
    EXPECT_EQ(unused.wrapped, (Wrapped{true, true, true}));
    EXPECT_EQ(fold_of(slice, {"x/8"}).lengths, (Point{1, 1, 1}))
        << "a factor of length 1 is no use";
}

TEST(Fold, ATwistedSliceFoldsToOneChipOrNotAtAll) {
    const Lattice slice = offered_twisted({4, 4, 8});
    EXPECT_EQ(fold_of(slice, {"x y z"}).size(), 1);
    EXPECT_EQ(fold_of(slice, {"x y z", ""}).size(), 1);
    EXPECT_EQ(fold_of(slice, {"x y z"}).wrapped, (Wrapped{true, true, true}));
    EXPECT_EQ(fold_of(slice, {"x y z", "z"}), slice);
    EXPECT_EQ(fold_of(slice, {"y z"}), slice);
}

// Round x or y of 2x2x4 a chip lands two further along z: at its own index in a host of 2x2x1 or
// 1x1x2, at another in one of 2x1x4.
TEST(Fold, ATwistedSliceFoldsToAHostThatKeepsItsPlaces) {
    Lattice slice{{2, 2, 4}, {true, true, true}, {Point{0, 0, 2}, Point{0, 0, 2}, Point{}}};
    const std::vector<std::vector<AxisFactor>> whole{{{0, 1, 2}, {1, 1, 2}, {2, 1, 4}}};
    EXPECT_EQ(fold(slice, whole, {2, 2, 1}).size(), 4);
    EXPECT_EQ(fold(slice, whole, {1, 1, 2}).size(), 2);
    EXPECT_EQ(fold(slice, whole, {2, 1, 4}), slice);
}

/// Sets of chips that a translation must preserve for traffic within these groups.
struct Traffic {
    /// (group, factor, chip): the chip sends to its next neighbour along that factor. A ring's last
    /// member sends to the first, a line's last member does not send.
    std::set<std::tuple<std::size_t, std::size_t, Point>> sends;
    /// (axis, chip): the chip has a link in the + direction of an axis in use.
    std::set<std::pair<int, Point>> links;
    /// For each group in use, its sets of members.
    std::vector<std::set<std::set<Point>>> members;
};

Point moved(const Lattice& slice, Point p, const Point& by) {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        p[axis] = (p[axis] + by[axis]) % slice.lengths[axis];
    }
    return p;
}

Traffic traffic_of(const Lattice& slice, const Groups& groups) {
    Traffic traffic;
    traffic.members.resize(groups.size());
    for (int i = 0; i < slice.size(); ++i) {
        const Point chip = slice.point(i);
        for (std::size_t g = 0; g < groups.size(); ++g) {
            Point first = chip;
            for (std::size_t f = 0; f < groups[g].size(); ++f) {
                const AxisFactor& factor = groups[g][f];
                const auto axis = static_cast<std::size_t>(factor.axis);
                const int rank = chip[axis] / factor.stride % factor.length;
                first[axis] -= rank * factor.stride;
                const bool ring =
                    slice.wrapped[axis] && factor.stride * factor.length == slice.lengths[axis];
                if (ring || rank + 1 < factor.length) {
                    traffic.sends.insert({g, f, chip});
                }
                if (slice.wrapped[axis] || chip[axis] + 1 < slice.lengths[axis]) {
                    traffic.links.insert({factor.axis, chip});
                }
            }
            std::set<Point> group{first};
            for (const AxisFactor& factor : groups[g]) {
                std::set<Point> grown;
                for (const Point& p : group) {
                    for (int r = 0; r < factor.length; ++r) {
                        grown.insert(p + along(factor.axis, r * factor.stride));
                    }
                }
                group = std::move(grown);
            }
            traffic.members[g].insert(group);
        }
    }
    return traffic;
}

bool preserves(const Lattice& slice, const Traffic& traffic, const Point& by) {
    for (const auto& [group, factor, chip] : traffic.sends) {
        if (!traffic.sends.contains({group, factor, moved(slice, chip, by)})) {
            return false;
        }
    }
    for (const auto& [axis, chip] : traffic.links) {
        if (!traffic.links.contains({axis, moved(slice, chip, by)})) {
            return false;
        }
    }
    for (const auto& groups : traffic.members) {
        for (const std::set<Point>& group : groups) {
            std::set<Point> image;
            for (const Point& p : group) {
                image.insert(moved(slice, p, by));
            }
            if (!groups.contains(image)) {
                return false;
            }
        }
    }
    return true;
}

/// Returns a random mesh that cuts every axis into factors and deals them to three logical axes.
DeviceMesh random_mesh(Random& random, const Lattice& slice) {
    std::vector<LogicalAxis> axes{{"a", {}}, {"b", {}}, {"c", {}}};
    for (int axis = 0; axis < kAxes; ++axis) {
        int stride = 1;
        while (stride < slice.length(axis)) {
            const int rest = slice.length(axis) / stride;
            int length = random.between(2, rest);
            while (rest % length != 0) {
                length = random.between(2, rest);
            }
            random.pick(axes).factors.push_back({axis, stride, length});
            stride *= length;
        }
    }
    return DeviceMesh(slice, axes);
}

// A translation preserves links, groups and every chip's role in them if and only if the fold maps
// it to the origin: the fold is exact, and no smaller one is.
TEST(Fold, FoldsByExactlyTheTranslationsThatPreserveTheTraffic) {
    constexpr std::uint64_t kSeed = 8675309;
    Random random(kSeed);
    const std::vector<int> lengths{1, 2, 3, 4, 6, 8, 12};
    int folded_chips = 0;
    for (int i = 0; i < 200; ++i) {
        Lattice slice;
        do {
            for (std::size_t axis = 0; axis < kAxes; ++axis) {
                slice.lengths[axis] = random.pick(lengths);
                slice.wrapped[axis] = random.below(3) > 0;
            }
        } while (slice.size() > 100);
        const DeviceMesh mesh = random_mesh(random, slice);
        Groups groups;
        for (const std::vector<std::string>& names :
             {std::vector<std::string>{"a"}, {"b"}, {"a", "c"}}) {
            if (random.coin()) {
                groups.push_back(mesh.group(names));
            }
        }
        const Lattice folded = fold(slice, groups);
        const Traffic traffic = traffic_of(slice, groups);
        for (int t = 0; t < slice.size(); ++t) {
            const Point by = slice.point(t);
            const bool identity = folded.canonical(by) == Point{0, 0, 0};
            ASSERT_EQ(preserves(slice, traffic, by), identity)
                << "seed " << kSeed << ", round " << i << ", slice " << to_string(slice.lengths)
                << ", fold " << to_string(folded.lengths) << ", translation " << to_string(by);
        }
        folded_chips += folded.size() < slice.size() ? 1 : 0;
    }
    EXPECT_GT(folded_chips, 50);  // the loop has seen real folds
}

}  // namespace
}  // namespace podsim::topology
