// AllToAll carries every pair's bytes and nothing else, over all small shapes, on the routes that
// its bound assumes; it meets the figures of its closed forms.
#include "collectives/algorithms/all_to_all.h"

#include <array>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "tests/collectives/carriers/checks.h"
#include "tests/collectives/carriers/collective_support.h"
#include "tests/collectives/carriers/pair_bytes.h"
#include "topology/mesh/fold.h"

namespace podsim::collectives {
namespace {

constexpr double kPairBytes = 48e3;
/// The first cap leaves the bytes of a route whole. The second
/// cuts those of the routes with large shares into 2 to 5.
constexpr std::array kRouteCaps{1e9, kPairBytes / 4.5};

void prove_exchange(const Case& c) {
    expect_pairs_exchange(c);
    expect_fold_is_equal(c);
    if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << describe(c);
    }
}

Case make_all_to_all(const topology::Lattice& slice, const Group& group, Algorithm algorithm) {
    Case c;
    c.operation = Operation::all_to_all;
    c.slice = slice;
    c.group = group;
    c.algorithm = algorithm;
    c.v = sim::Bytes(kPairBytes * group_size(group) * group_size(group));
    c.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-7)};
    return c;
}

void prove_both(const topology::Lattice& slice, const Group& group, double cap = 1e9) {
    for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::one_way}) {
        if (slice.twisted() && algorithm == Algorithm::one_way) {
            continue;
        }
        Case c = make_all_to_all(slice, group, algorithm);
        c.options.message_cap = sim::Bytes(cap);
        prove_exchange(c);
    }
}

TEST(AllToAllTest, OneAxis) {
    for (int length = 1; length <= 9; ++length) {
        for (const unsigned wrapped : {0U, 1U}) {
            for (const double cap : kRouteCaps) {
                const topology::Lattice slice = box({length, 1, 1}, wrapped);
                prove_both(slice, whole_axes(slice), cap);
                ASSERT_FALSE(HasFailure());
            }
        }
    }
}

TEST(AllToAllTest, BlocksAndStrides) {
    for (const int length : {4, 6, 8, 12}) {
        for (const unsigned wrapped : {0U, 1U}) {
            const topology::Lattice slice = box({length, 1, 1}, wrapped);
            for (int stride = 1; stride < length; ++stride) {
                for (int members = 2; stride * members <= length; ++members) {
                    if (length % (stride * members) == 0) {
                        prove_both(slice, {{0, stride, members}}, kRouteCaps[1]);
                        ASSERT_FALSE(HasFailure());
                    }
                }
            }
        }
    }
    for (const unsigned wrapped : {0U, 1U}) {
        prove_both(box({8, 1, 1}, wrapped), {{0, 1, 2}, {0, 4, 2}});                 // x%2 x/4
        prove_both(box({12, 1, 1}, wrapped), {{0, 1, 3}, {0, 6, 2}});                // x%3 x/6
        prove_both(box({4, 6, 1}, 3 * wrapped), {{0, 2, 2}, {1, 1, 3}});             // x/2 y%3
        prove_both(box({4, 4, 2}, 7 * wrapped), {{0, 1, 2}, {1, 2, 2}, {2, 1, 2}});  // x%2 y/2 z
    }
}

TEST(AllToAllTest, TwoAxes) {
    std::size_t turn = 0;
    for (int x = 1; x <= 4; ++x) {
        for (int y = 1; y <= 4; ++y) {
            for (const unsigned wrapped : {0U, 1U, 2U, 3U}) {
                const topology::Lattice slice = box({x, y, 1}, wrapped);
                prove_both(slice, whole_axes(slice), kRouteCaps[turn++ % 2]);
                ASSERT_FALSE(HasFailure());
            }
        }
    }
}

TEST(AllToAllTest, ThreeAxes) {
    for (int shape = 0; shape < 64; ++shape) {
        for (unsigned wrapped = 0; wrapped < 8; ++wrapped) {
            const topology::Lattice slice =
                box({1 + shape / 16, 1 + shape / 4 % 4, 1 + shape % 4}, wrapped);
            prove_both(slice, whole_axes(slice));
            ASSERT_FALSE(HasFailure());
        }
    }
}

TEST(AllToAllTest, RandomGroups) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        Random random(seed);
        Case c = random_case(random, 8, 36);
        c.operation = Operation::all_to_all;
        c.algorithm = random.coin() ? Algorithm::automatic : Algorithm::one_way;
        c.options.message_cap = sim::Bytes(c.v.value() / random.between(1, 200));
        SCOPED_TRACE("seed " + std::to_string(seed));
        prove_exchange(c);
        ASSERT_FALSE(HasFailure());
    }
}

/// Groups are the whole slice and every axis alone.
TEST(AllToAllTest, TwistedSlices) {
    for (const topology::Point shape : {topology::Point{2, 2, 4}, topology::Point{2, 4, 4},
                                        topology::Point{4, 4, 8}, topology::Point{4, 8, 8}}) {
        const topology::Lattice slice = twisted(shape);
        const Case whole = make_all_to_all(slice, whole_axes(slice), Algorithm::automatic);
        EXPECT_EQ(folded(whole).size(), 1);
        for (const unsigned axes : {7U, 1U, 2U, 4U}) {
            prove_both(slice, whole_axes(slice, axes));
            ASSERT_FALSE(HasFailure());
        }
    }
}

/// On twisted slices the bound walks the routes. The
/// six directions of a slice carry the same bytes.
TEST(AllToAllTest, TwistedSlicesLoadAllLinksAlike) {
    for (const topology::Point shape :
         {topology::Point{2, 2, 4}, topology::Point{2, 4, 4}, topology::Point{4, 4, 8},
          topology::Point{4, 8, 8}, topology::Point{8, 8, 16}, topology::Point{8, 16, 16}}) {
        const topology::Lattice slice = twisted(shape);
        Case c = make_all_to_all(slice, whole_axes(slice), Algorithm::automatic);
        c.v = sim::Bytes(1e9);
        const Outcome run = run_on(folded(c), c);
        const double busiest = busiest_link(c.call()).value();
        ASSERT_EQ(run.result.links.size(), 6U);
        for (const sim::LinkTotals& link : run.result.links) {
            EXPECT_NEAR(link.carried().value(), busiest, 1e-4 * busiest) << describe(c);
        }
    }
}

double simulated(const topology::Lattice& slice, Operation operation, Algorithm algorithm, double v,
                 const Group& group) {
    Case c;
    c.operation = operation;
    c.slice = slice;
    c.group = group;
    c.algorithm = algorithm;
    c.v = sim::Bytes(v);
    c.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-6)};
    return run_on(folded(c), c).result.end.seconds();
}

double simulated(const topology::Lattice& slice, double v) {
    return simulated(slice, Operation::all_to_all, Algorithm::automatic, v, whole_axes(slice));
}

double bound(const topology::Lattice& slice, double v) {
    return physical_bound({.operation = Operation::all_to_all,
                           .slice = slice,
                           .members = {whole_axes(slice)},
                           .bytes = sim::Bytes(v)},
                          sim::BytesPerSecond(9e10))
        .value();
}

TEST(AllToAllTest, IsNearTheBound) {
    struct Row {
        topology::Lattice slice;
        double v;
        double least;
    };
    for (const Row& row :
         {Row{box({8, 8, 8}, 7), 1e11, 0.98}, Row{twisted({4, 4, 8}), 1e11, 0.98},
          Row{twisted({4, 8, 8}), 1e11, 0.98}, Row{box({16, 16, 16}, 7), 1e12, 0.98},
          Row{box({16, 16, 16}, 7), 1e10, 0.95}}) {
        const double ratio = bound(row.slice, row.v) / simulated(row.slice, row.v);
        EXPECT_GE(ratio, row.least) << row.slice.lengths[0] << "x" << row.slice.lengths[1] << "x"
                                    << row.slice.lengths[2] << ", " << row.v << " B";
        EXPECT_LE(ratio, 1);
    }
}

TEST(AllToAllTest, TwistingGainsWhatTheTableSays) {
    struct Row {
        topology::Point shape;
        double gain;
    };
    for (const Row& row : {Row{{4, 4, 8}, 1.745}, Row{{4, 8, 8}, 1.391}, Row{{8, 8, 16}, 1.722},
                           Row{{8, 16, 16}, 1.376}, Row{{12, 12, 24}, 1.718}}) {
        const topology::Lattice regular = box(row.shape, 7);
        EXPECT_NEAR(bound(regular, 1e11) / bound(twisted(row.shape), 1e11), row.gain, 0.0005);
        if (row.shape[0] == 4) {
            const double gain = simulated(regular, 1e11) / simulated(twisted(row.shape), 1e11);
            EXPECT_NEAR(gain, row.gain, 0.03 * row.gain);
        }
    }
}

/// The ratio of AllGather to AllToAll for a large array is 4 (n-1)/n on a two-way ring of even n,
/// and 2 on a one-way ring.
TEST(AllToAllTest, AgainstAllGatherOnRings) {
    for (const int n : {2, 4, 8, 16, 32}) {
        const topology::Lattice ring = box({n, 1, 1}, 1);
        const Group group = whole_axes(ring);
        const auto ratio = [&](Algorithm algorithm) {
            return simulated(ring, Operation::all_gather, algorithm, 1e11, group) /
                   simulated(ring, Operation::all_to_all, algorithm, 1e11, group);
        };
        const double two_way = 4.0 * (n - 1) / n;
        EXPECT_NEAR(ratio(Algorithm::automatic), two_way, 0.01 * two_way) << n;
        EXPECT_NEAR(ratio(Algorithm::one_way), 2, 0.02) << n;
    }
}

// Every member takes its own load from every other member, or returns it: 2 (m + 1) / (n + 1) times
// the mean for member m.
TEST(UnequalAllToAll, EveryPairCarriesItsOwnBytes) {
    struct Where {
        topology::Lattice slice;
        Group group;
    };
    const std::vector<Where> all{{box({4, 1, 1}, 7), {{0, 1, 4}}},
                                 {box({5, 2, 1}, 7), {{0, 1, 5}}},
                                 {box({4, 3, 1}, 0), {{0, 1, 4}}},
                                 {box({4, 3, 1}, 1), {{0, 1, 4}, {1, 1, 3}}},
                                 {box({8, 2, 1}, 7), {{0, 2, 4}}},
                                 {box({8, 2, 1}, 7), {{0, 1, 4}}},
                                 {box({8, 1, 2}, 7), {{0, 4, 2}, {2, 1, 2}}},
                                 {twisted({2, 2, 4}), whole_axes(twisted({2, 2, 4}))}};
    for (const Where& where : all) {
        for (const bool returning : {false, true}) {
            for (const double cap : kRouteCaps) {
                Case c = make_all_to_all(where.slice, where.group, Algorithm::automatic);
                c.options.message_cap = sim::Bytes(cap);
                const int members = group_size(c.group);
                for (int m = 0; m < members; ++m) {
                    c.ends.loads.push_back(2.0 * (m + 1) / (members + 1));
                }
                c.ends.returning = returning;
                prove_exchange(c);
                // Member m takes 2 m / (n - 1), so that the first takes nothing.
                for (int m = 0; m < members; ++m) {
                    c.ends.loads[static_cast<std::size_t>(m)] = 2.0 * m / (members - 1);
                }
                prove_exchange(c);
            }
        }
    }
}

// On a line of 4, rank 1 takes everything: each of the
// others sends it one message, and nothing else is sent.
TEST(UnequalAllToAll, NothingIsSentWhereNothingIsTaken) {
    Case c = make_all_to_all(box({4, 1, 1}, 0), {{0, 1, 4}}, Algorithm::automatic);
    c.ends.loads = {0, 4, 0, 0};
    for (const bool returning : {false, true}) {
        c.ends.returning = returning;
        prove_exchange(c);
        run_on(c.slice, c, [&](const CollectiveSchedule& built, sim::Workload&) {
            EXPECT_EQ(built.schedule.transfers.size(), 3U);
            return nullptr;
        });
    }
}

// A ring of 4 has loads 5/2, 1/2, 1/2, 1/2 and pairs of b. Each of the two
// links into member 0 carries 5/2 b from the neighbour, half of the 5/2 b from
// the opposite member, and half of the 1/2 b that the one neighbour sends to
// the other: 4 b. Returning, the links out of member 0 carry the same.
TEST(UnequalAllToAll, BusiestLinkIsThatOfTheFullestMember) {
    for (const bool returning : {false, true}) {
        Ends ends;
        ends.loads = {2.5, 0.5, 0.5, 0.5};
        ends.returning = returning;
        EXPECT_DOUBLE_EQ(busiest_link({.operation = Operation::all_to_all,
                                       .slice = box({4, 1, 1}, 7),
                                       .members = {{{0, 1, 4}}},
                                       .bytes = sim::Bytes(16),
                                       .ends = ends})
                             .value(),
                         4);
    }
}

}  // namespace
}  // namespace podsim::collectives
