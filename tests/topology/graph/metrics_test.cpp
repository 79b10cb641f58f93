#include "topology/graph/metrics.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

#include "tests/topology/lattice_support.h"

namespace podsim::topology {
namespace {

TopologyMetrics measured(const Lattice& slice, const DeadLinks& dead = {}) {
    return measure(machine_graph(slice, {1, 1, 1}, link_kinds()), dead);
}

TopologyMetrics metrics_of(const char* chip, const char* shape, bool twist = false) {
    const ChipSpec& spec = find_chip(chip);
    const Lattice slice = make_slice(spec, parse_shape(shape), twist);
    return measure(machine_graph(slice, spec.host_shape.value, link_kinds(spec)));
}

// A ring of n has floor(n^2 / 4) hops from one chip, and floor(n / 2) at most. For 16x20x28 the
// means 4 + 5 + 7 add up to 16, the diameters 8 + 10 + 14 to 32. A chip has 3 links. The smallest
// cut is across the longest axis: two planes of 16 x 20.
TEST(Metrics, TheFullPod) {
    EXPECT_EQ(metrics_of("v5p", "16x20x28"), (TopologyMetrics{.chips = 8960,
                                                              .hosts = 2240,
                                                              .ici_links = 26880,
                                                              .wrapped = {true, true, true},
                                                              .diameter_hops = 32,
                                                              .mean_hops = 16,
                                                              .bisection_links = 640}));
}

// For 8x16 on v5e, y is a ring of 16 (mean 4, farthest 8), x a line of 8 with mean (8^2 - 1) / (3 *
// 8) = 2.625, farthest 7. There are 128 links on y and 7 * 16 on x. Cuts have one plane of 16
// across x, and two of 8 across y.
TEST(Metrics, OneAxisWrapped) {
    EXPECT_EQ(metrics_of("v5e", "8x16"), (TopologyMetrics{.chips = 128,
                                                          .hosts = 16,
                                                          .ici_links = 240,
                                                          .wrapped = {false, true, false},
                                                          .diameter_hops = 15,
                                                          .mean_hops = 6.625,
                                                          .bisection_links = 16}));
}

TEST(Metrics, SmallMeshes) {
    EXPECT_EQ(metrics_of("v4p", "1x1x1"), (TopologyMetrics{.chips = 1,
                                                           .hosts = 1,
                                                           .ici_links = 0,
                                                           .wrapped = {},
                                                           .diameter_hops = 0,
                                                           .mean_hops = 0,
                                                           .bisection_links = std::nullopt}));
    // A cube of 8 chips has 12 edges and the mean 3 * 1/2; any plane cuts 4.
    EXPECT_EQ(metrics_of("v4p", "2x2x2"), (TopologyMetrics{.chips = 8,
                                                           .hosts = 2,
                                                           .ici_links = 12,
                                                           .wrapped = {},
                                                           .diameter_hops = 3,
                                                           .mean_hops = 1.5,
                                                           .bisection_links = 4}));
}

TEST(Metrics, OddAxesHaveNoEqualCut) {
    const Lattice odd{.lengths = {3, 5, 1}, .wrapped = {true, true, false}, .wrap_shift = {}};
    EXPECT_EQ(measured(odd).bisection_links, std::nullopt);
    // There is one even axis: its two planes of 5 are the only cut.
    const Lattice even{.lengths = {4, 5, 1}, .wrapped = {true, true, false}, .wrap_shift = {}};
    EXPECT_EQ(measured(even).bisection_links, 10);
    // A wrapped pair has two parallel links.
    const Lattice pair{.lengths = {2, 1, 1}, .wrapped = {true, false, false}, .wrap_shift = {}};
    EXPECT_EQ(measured(pair).bisection_links, 2);
    EXPECT_EQ(measured(pair).ici_links, 2);
}

/// Published for twisted tori: mean and largest distance, regular and twisted,
/// and the bound on the gain of a uniform AllToAll. On a regular torus the
/// longest axis is the bottleneck with (its mean) / 1. On a twisted one all
/// three axes carry a third of the mean: gain = 3 (longest / 4) / mean.
struct TwistedRow {
    const char* shape;
    double regular_mean;
    double twisted_mean;
    int regular_diameter;
    int twisted_diameter;
    double gain;
    int regular_bisection;
    int twisted_bisection;
};

class TwistedMetrics : public testing::TestWithParam<TwistedRow> {};

// Twisted bisection of k x k x 2k: across x or y two planes of 2 k^2, so 4 k^2; across z the two
// planes of k^2 are joined by every wrap of x and of y (2 k^2 each), 6 k^2. For k x 2k x 2k: across
// x two planes of 4 k^2; across y or z two planes of 2 k^2 and all 4 k^2 wraps of x; 8 k^2 each. A
// regular torus has, across the longest axis, 2 k^2 and 4 k^2.
INSTANTIATE_TEST_SUITE_P(
    Published, TwistedMetrics,
    testing::Values(TwistedRow{"4x4x8", 4, 3.4375, 8, 6, 1.745, 32, 64},
                    TwistedRow{"4x8x8", 5, 4.3125, 10, 6, 1.391, 64, 128},
                    TwistedRow{"8x8x16", 8, 6.96875, 16, 12, 1.722, 128, 256},
                    TwistedRow{"8x16x16", 10, 8.71875, 20, 12, 1.376, 256, 512},
                    TwistedRow{"12x12x24", 12, 10.479, 24, 18, 1.718, 288, 576}),
    [](const auto& row) { return std::string("shape") + row.param.shape; });

TEST_P(TwistedMetrics, MatchThePublishedTable) {
    const TwistedRow& row = GetParam();
    const TopologyMetrics regular = metrics_of("v5p", row.shape);
    const TopologyMetrics twist = metrics_of("v5p", row.shape, true);
    EXPECT_EQ(regular.mean_hops, row.regular_mean);
    EXPECT_EQ(regular.diameter_hops, row.regular_diameter);
    EXPECT_EQ(regular.bisection_links, row.regular_bisection);
    EXPECT_NEAR(twist.mean_hops, row.twisted_mean, row.twisted_mean == 10.479 ? 0.0005 : 0);
    EXPECT_EQ(twist.diameter_hops, row.twisted_diameter);
    EXPECT_EQ(twist.bisection_links, row.twisted_bisection);
    const double longest = parse_shape(row.shape)[2];
    EXPECT_NEAR(3 * (longest / 4) / twist.mean_hops, row.gain, 0.0005);
    // Twisting adds no link and no host.
    EXPECT_EQ(twist.ici_links, regular.ici_links);
    EXPECT_EQ(twist.ici_links, 3 * twist.chips);
    EXPECT_EQ(twist.hosts, regular.hosts);
}

// An independent computation of the distances: the shortest of all displacements that reach the
// chip, over the vectors that closed walks round the axes add.
TEST_P(TwistedMetrics, DistancesAreShortestVectors) {
    const Lattice slice = offered_twisted(parse_shape(GetParam().shape));
    std::int64_t sum = 0;
    int largest = 0;
    for (int i = 0; i < slice.size(); ++i) {
        int shortest = 1 << 30;
        for (int a = -2; a <= 2; ++a) {
            for (int b = -2; b <= 2; ++b) {
                for (int c = -2; c <= 2; ++c) {
                    Point p = slice.point(i);
                    const std::array turns{a, b, c};
                    for (int axis = 0; axis < kAxes; ++axis) {
                        const auto at = static_cast<std::size_t>(axis);
                        p = p +
                            (along(axis, slice.length(axis)) - slice.wrap_shift[at]) * turns[at];
                    }
                    shortest = std::min(shortest, std::abs(p[0]) + std::abs(p[1]) + std::abs(p[2]));
                }
            }
        }
        sum += shortest;
        largest = std::max(largest, shortest);
    }
    EXPECT_EQ(distances_by_search(slice),
              (Distances{sum * slice.size(), largest, std::int64_t{slice.size()} * slice.size()}));
}

// Distances on a plain slice add up over axes: the
// search on the whole slice proves the search by axes.
TEST(Metrics, SearchByAxesEqualsSearchOnTheWholeSlice) {
    constexpr std::uint64_t kSeed = 1234;
    Random random(kSeed);
    for (int i = 0; i < 60; ++i) {
        const Lattice slice = random_lattice(random, 7);
        EXPECT_EQ(distances_by_axes(slice), distances_by_search(slice))
            << "seed " << kSeed << ", round " << i << ", slice " << to_string(slice.lengths);
    }
}

// Slices are disjoint: their chips, hosts and links add up, and distances are within one slice.
TEST(Metrics, OfSeveralSlices) {
    const Lattice ring{.lengths = {1, 6, 1}, .wrapped = {false, true, false}, .wrap_shift = {}};
    const TopologyMetrics one = measured(ring);
    TopologyMetrics three = measure(machine_graph(Places(ring, 3), {1, 1, 1}, link_kinds()));
    EXPECT_EQ(three.chips, 18);
    EXPECT_EQ(three.hosts, 18);
    EXPECT_EQ(three.ici_links, 18);
    EXPECT_EQ(three.diameter_hops, one.diameter_hops);
    EXPECT_EQ(three.mean_hops, one.mean_hops);
    EXPECT_EQ(three.bisection_links, one.bisection_links);
}

// A ring of 4 without one link is a line of 4: 4 (4^2 - 1) / 3 = 20 hops
// over 16 pairs. A line of 5 without its second link is a line of 2 and
// one of 3: 2 + 8 hops over 4 + 9 pairs, two chips outside the larger.
TEST(Metrics, DeadLinks) {
    const Lattice ring{.lengths = {4, 1, 1}, .wrapped = {true}, .wrap_shift = {}};
    DeadLinks cut(ring);
    cut.add(3, 0);
    const TopologyMetrics line = measured(ring, cut);
    EXPECT_EQ(line.ici_links, 3);
    EXPECT_EQ(line.diameter_hops, 3);
    EXPECT_EQ(line.mean_hops, 1.25);
    EXPECT_EQ(line.bisection_links, 1);
    EXPECT_EQ(line.chips_cut_off, 0);
    // Without any one link, only the opposite link joins the two halves.
    for (int chip = 0; chip < 4; ++chip) {
        DeadLinks one(ring);
        one.add(chip, 0);
        EXPECT_EQ(measured(ring, one).bisection_links, 1) << chip;
    }

    const Lattice five{.lengths = {5, 1, 1}, .wrapped = {}, .wrap_shift = {}};
    DeadLinks second(five);
    second.add(1, 0);
    const TopologyMetrics parts = measured(five, second);
    EXPECT_EQ(parts.ici_links, 3);
    EXPECT_EQ(parts.diameter_hops, 2);
    EXPECT_DOUBLE_EQ(parts.mean_hops, 10.0 / 13);
    EXPECT_EQ(parts.chips_cut_off, 2);
    // Links of the second slice are alive.
    EXPECT_EQ(measure(machine_graph(Places(five, 2), {1, 1, 1}, link_kinds()), second).ici_links,
              7);
}

// Closed forms of one axis: a ring has floor(n^2/4) hops
// from each chip, a line n (n^2 - 1) / 3 over all pairs.
TEST(Metrics, ClosedFormsOfOneAxis) {
    for (int n = 1; n <= 20; ++n) {
        const Lattice ring{.lengths = {1, n, 1}, .wrapped = {true, true, true}, .wrap_shift = {}};
        EXPECT_EQ(distances_by_search(ring), (Distances{n * (n * n / 4), n / 2, n * n})) << n;
        const Lattice line{.lengths = {1, n, 1}, .wrapped = {}, .wrap_shift = {}};
        EXPECT_EQ(distances_by_search(line), (Distances{n * (n * n - 1) / 3, n - 1, n * n})) << n;
    }
}

}  // namespace
}  // namespace podsim::topology
