#include "topology/lattice/lattice.h"

#include <gtest/gtest.h>
#include <set>

#include "tests/topology/lattice_support.h"

namespace podsim::topology {
namespace {

/// Returns the displacement of one round along an axis, which equals the origin.
Point round(const Lattice& lattice, int axis) {
    return along(axis, lattice.length(axis)) - lattice.wrap_shift[static_cast<std::size_t>(axis)];
}

class TwistedLattice : public testing::TestWithParam<Point> {};

INSTANTIATE_TEST_SUITE_P(Shapes, TwistedLattice,
                         testing::Values(Point{4, 4, 8}, Point{4, 8, 8}, Point{8, 8, 16},
                                         Point{8, 16, 16}, Point{12, 12, 24}),
                         [](const auto& shape) { return "shape" + to_string(shape.param); });

TEST_P(TwistedLattice, CanonicalIsAGroupHomomorphism) {
    const Lattice lattice = offered_twisted(GetParam());
    constexpr std::uint64_t kSeed = 20230402;
    Random random(kSeed);
    for (int i = 0; i < 2000; ++i) {
        Point p{};
        Point q{};
        for (std::size_t axis = 0; axis < kAxes; ++axis) {
            p[axis] = random.between(-100, 100);
            q[axis] = random.between(-100, 100);
        }
        const Point cp = lattice.canonical(p).value();
        const Point cq = lattice.canonical(q).value();
        ASSERT_EQ(lattice.canonical(cp), cp) << "seed " << kSeed << ", round " << i;
        ASSERT_EQ(lattice.canonical(p + q), lattice.canonical(cp + cq))
            << "seed " << kSeed << ", round " << i;
        ASSERT_EQ(lattice.canonical(p - q), lattice.canonical(cp - cq))
            << "seed " << kSeed << ", round " << i;
    }
}

TEST_P(TwistedLattice, GoingOnceRoundAnyAxisIsTheOrigin) {
    const Lattice lattice = offered_twisted(GetParam());
    for (int axis = 0; axis < kAxes; ++axis) {
        EXPECT_EQ(lattice.canonical(round(lattice, axis)), (Point{0, 0, 0})) << axis_name(axis);
    }
}

// Hardware fact: a straight walk along a short axis closes after 2k hops, not k.
TEST_P(TwistedLattice, AShortAxisClosesAfterTwiceItsLength) {
    const Lattice lattice = offered_twisted(GetParam());
    const int k = lattice.lengths[0];
    for (int axis = 0; axis < kAxes; ++axis) {
        int hops = 1;
        while (lattice.canonical(along(axis, hops)) != Point{0, 0, 0}) {
            ++hops;
        }
        EXPECT_EQ(hops, 2 * k) << axis_name(axis);
    }
}

// The catalogue's shifts are their own inverses (k of
// 2k). This one has a sign: x wraps with z + 2 of 9.
TEST(Lattice, GoingPastTheEndAddsTheShiftGoingBelowTheStartTakesItAway) {
    const Lattice lattice{
        .lengths = {3, 1, 9}, .wrapped = {true, false, true}, .wrap_shift = {Point{0, 0, 2}}};
    EXPECT_EQ(lattice.canonical({3, 0, 0}), (Point{0, 0, 2}));
    EXPECT_EQ(lattice.canonical({7, 0, 8}), (Point{1, 0, 3}));
    EXPECT_EQ(lattice.canonical({-1, 0, 0}), (Point{2, 0, 7}));
    EXPECT_EQ(lattice.canonical({-3, 0, 2}), (Point{0, 0, 0}));
}

TEST(Lattice, IndexAndPointAreInverse) {
    const Lattice lattice{.lengths = {3, 4, 5}, .wrapped = {}, .wrap_shift = {}};
    std::set<Point> seen;
    for (int i = 0; i < lattice.size(); ++i) {
        EXPECT_EQ(lattice.index(lattice.point(i)), i);
        seen.insert(lattice.point(i));
    }
    EXPECT_EQ(seen.size(), 60u);
    EXPECT_EQ(lattice.index({1, 2, 3}), (1 * 4 + 2) * 5 + 3);
}

TEST(Lattice, AnUnwrappedAxisEnds) {
    const Lattice lattice{.lengths = {4, 4, 1}, .wrapped = {true, false, false}, .wrap_shift = {}};
    EXPECT_EQ(lattice.canonical({-1, 3, 0}), (Point{3, 3, 0}));
    EXPECT_EQ(lattice.canonical({4, 0, 0}), (Point{0, 0, 0}));
    EXPECT_EQ(lattice.canonical({0, 4, 0}), std::nullopt);
    EXPECT_EQ(lattice.canonical({0, -1, 0}), std::nullopt);
    EXPECT_EQ(lattice.canonical({0, 0, 1}), std::nullopt);
}

TEST(Lattice, OnlyWrapShiftsMakeItTwisted) {
    EXPECT_TRUE(offered_twisted({4, 4, 8}).twisted());
    EXPECT_FALSE(make_slice(find_chip("v5p"), {4, 4, 8}, false).twisted());
}

}  // namespace
}  // namespace podsim::topology
