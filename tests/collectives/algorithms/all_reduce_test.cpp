// AllReduce along trees and in one shot: data, links, time and bound over all small shapes.
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "tests/collectives/carriers/all_reduce_carriers.h"
#include "tests/collectives/carriers/checks.h"

namespace podsim::collectives {
namespace {

Case make_all_reduce(const topology::Lattice& slice, const Group& group, Algorithm algorithm,
                     double bytes, double cap = 4e6) {
    Case c;
    c.operation = Operation::all_reduce;
    c.slice = slice;
    c.group = group;
    c.algorithm = algorithm;
    c.v = sim::Bytes(bytes);
    c.options.message_cap = sim::Bytes(cap);
    c.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-7)};
    return c;
}

/// Carries data on the whole slice and counts the bytes that arrive. A group receives 2 (n-1) V
/// along trees; in one shot every member receives V from every other member of each factor in turn.
template <class Carrier>
void prove_all_reduce(const Case& c) {
    std::optional<Carrier> carrier;
    const Outcome run = run_on(c.slice, c, [&](const CollectiveSchedule& built, sim::Workload&) {
        return &carrier.emplace(c, built);
    });
    carrier->check_result();
    ASSERT_EQ(carrier->error(), "") << describe(c);
    const int n = group_size(c.group);
    double each = 2.0 * (n - 1) / n;
    if (c.algorithm == Algorithm::one_shot) {
        each = 0;
        for (const Part& part : divide(c.slice, c.group, c.algorithm)) {
            for (const int length : part.lengths) {
                each += part.weight * (length - 1);
            }
        }
    }
    const std::vector<double>& received = carrier->received();
    const double all = std::accumulate(received.begin(), received.end(), 0.0);
    const double expected = each * c.v.value() * c.slice.size();
    ASSERT_NEAR(all, expected, 1e-9 * expected) << describe(c);
    ASSERT_FALSE(::testing::Test::HasFailure()) << describe(c);
}

bool has_trees(const Case& c) {
    const std::vector<Algorithm> list = info(c.operation).candidates(c.call());
    return list.front() == Algorithm::reduce_broadcast;
}

/// Runs both algorithms if they apply, with a small array and with one that is cut.
void prove_one_shot_and_trees(const topology::Lattice& slice, const Group& group) {
    const double most = slice.size() > 9 ? 1000.0 : 48e3;
    for (const double bytes : std::set<double>{1000.0, most}) {
        prove_all_reduce<OneShotCarrier>(
            make_all_reduce(slice, group, Algorithm::one_shot, bytes, bytes / 2));
        const Case trees = make_all_reduce(slice, group, Algorithm::reduce_broadcast, 10 * bytes);
        if (has_trees(trees)) {
            prove_all_reduce<TreeCarrier>(trees);
        }
        ASSERT_FALSE(::testing::Test::HasFailure());
    }
}

TEST(AllReduceTest, OneAxisCarriesData) {
    for (int length = 1; length <= 9; ++length) {
        for (const unsigned wrapped : {0U, 1U}) {
            const topology::Lattice slice = box({length, 1, 1}, wrapped);
            prove_one_shot_and_trees(slice, whole_axes(slice));
            ASSERT_FALSE(HasFailure());
        }
    }
}

TEST(AllReduceTest, TwoAndThreeAxesCarryData) {
    for (int shape = 0; shape < 64; ++shape) {
        for (unsigned wrapped = 0; wrapped < 8; ++wrapped) {
            const topology::Lattice slice =
                box({1 + shape / 16, 1 + shape / 4 % 4, 1 + shape % 4}, wrapped);
            prove_one_shot_and_trees(slice, whole_axes(slice));
            ASSERT_FALSE(HasFailure());
        }
    }
}

/// Groups are blocks, strides and pairs of them.
TEST(AllReduceTest, RandomGroupsCarryDataAndFold) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        Case c = random_case(random, 8, 36);
        c.operation = Operation::all_reduce;
        c.algorithm = Algorithm::one_shot;
        c.v = std::min(c.v, sim::Bytes(1e6));
        prove_all_reduce<OneShotCarrier>(c);
        expect_fold_is_equal(c);
        if (has_trees(c)) {
            c.algorithm = Algorithm::reduce_broadcast;
            prove_all_reduce<TreeCarrier>(c);
            expect_fold_is_equal(c);
        }
        ASSERT_FALSE(HasFailure()) << describe(c);
    }
}

/// Groups are the whole slice and its axes. Axes that close with a twist are lines.
TEST(AllReduceTest, TwistedSlicesCarryDataAndFold) {
    for (const topology::Point& shape : {topology::Point{2, 2, 4}, topology::Point{2, 4, 4},
                                         topology::Point{4, 4, 8}, topology::Point{4, 8, 8}}) {
        const topology::Lattice slice = twisted(shape);
        for (const unsigned axes : {1U, 2U, 4U, 3U, 5U, 6U, 7U}) {
            const Case one =
                make_all_reduce(slice, whole_axes(slice, axes), Algorithm::one_shot, 1000);
            prove_all_reduce<OneShotCarrier>(one);
            expect_fold_is_equal(one);
            const Case trees =
                make_all_reduce(slice, whole_axes(slice, axes), Algorithm::reduce_broadcast, 2e5);
            EXPECT_EQ(has_trees(trees), group_size(trees.group) > 2 && axes != 7 && axes != 4 &&
                                            (axes & 3U) != 0 &&
                                            (axes != 2 || shape[0] == shape[1]) &&
                                            (axes != 6 || shape[0] == shape[1]));
            if (has_trees(trees)) {
                prove_all_reduce<TreeCarrier>(trees);
                expect_fold_is_equal(trees);
            }
            ASSERT_FALSE(HasFailure());
        }
    }
}

/// Hops are the links to the farthest member along each factor: half of the hops of ReduceScatter
/// then AllGather. A 4x4x8 twisted torus has rings of 8, 4 and 4.
TEST(AllReduceTest, OneShotHops) {
    const auto hops = [](const topology::Lattice& slice, Algorithm algorithm) {
        ShiftTable shifts(slice);
        return build_schedule({.operation = Operation::all_reduce,
                               .slice = slice,
                               .members = {whole_axes(slice)},
                               .bytes = sim::Bytes(1000),
                               .algorithm = algorithm},
                              {}, shifts)
            .hops;
    };
    EXPECT_EQ(hops(box({4, 4, 8}, 7), Algorithm::one_shot), 2 + 2 + 4);
    EXPECT_EQ(hops(box({4, 4, 8}, 7), Algorithm::weighted), 16);
    EXPECT_EQ(hops(box({4, 5, 1}, 2), Algorithm::one_shot), 3 + 2);
    EXPECT_EQ(hops(twisted({4, 4, 8}), Algorithm::one_shot), 4 + 2 + 2);
    // The tree goes from a corner spine of one axis to the middle of the other: 2 x (7 + 4).
    EXPECT_EQ(hops(box({8, 8, 1}, 0), Algorithm::reduce_broadcast), 22);
}

/// On a ring of 4, 1000 B at 9e10 B/s take 11112 ps and 0.1 us to the neighbours, then half of that
/// and 0.1 us to the opposite chip. On two such rings each half of the array takes one ring and
/// then the other: 5556 + 2778 and 0.2 us each.
TEST(AllReduceTest, OneShotByHand) {
    const topology::Lattice ring = box({4, 1, 1}, 1);
    const Case one = make_all_reduce(ring, whole_axes(ring), Algorithm::one_shot, 1000);
    EXPECT_EQ(run_on(ring, one).result.end.ps, 11112 + 100000 + 5556 + 100000);
    EXPECT_EQ(closed_form(one.call(), one.options, one.link), sim::Time{216668});
    const topology::Lattice torus = box({4, 4, 1}, 3);
    EXPECT_EQ(run_on(torus, make_all_reduce(torus, whole_axes(torus), Algorithm::one_shot, 1000))
                  .result.end.ps,
              2 * (5556 + 2778 + 200000));
}

TEST(AllReduceTest, OneShotEqualsItsClosedForm) {
    for (int length = 1; length <= 9; ++length) {
        for (const unsigned wrapped : {0U, 1U}) {
            for (const double cap : {1e9, 500.0, 170.0}) {
                for (const double latency : {0.0, 3e-9, 1e-6}) {
                    for (const auto rule : {sim::LatencyRule::additive, sim::LatencyRule::floor}) {
                        const topology::Lattice slice = box({length, 1, 1}, wrapped);
                        Case c = make_all_reduce(slice, whole_axes(slice), Algorithm::one_shot,
                                                 997.3, cap);
                        c.link.latency = sim::Seconds(latency);
                        c.link.rule = rule;
                        const auto exact = closed_form(c.call(), c.options, c.link);
                        ASSERT_TRUE(exact);
                        ASSERT_EQ(run_on(slice, c).result.end, *exact) << describe(c);
                    }
                }
            }
        }
    }
}

/// Trees load every link alike: at zero latency the time reaches 2(N-1)V over all links, except for
/// the filling of the pipeline.
TEST(AllReduceTest, TreesAreNearTheBound) {
    struct Row {
        topology::Point shape;
        unsigned wrapped;
        double share;
    };
    for (const Row& row :
         {Row{{8, 8, 1}, 0, 0.97}, Row{{4, 4, 1}, 0, 0.98}, Row{{4, 8, 1}, 0, 0.98},
          Row{{2, 2, 4}, 0, 0.98}, Row{{4, 4, 2}, 0, 0.97}, Row{{2, 4, 1}, 0, 0.98},
          Row{{16, 8, 1}, 1, 0.95}, Row{{4, 4, 3}, 1, 0.96}}) {
        const topology::Lattice slice = box(row.shape, row.wrapped);
        Case c = make_all_reduce(slice, whole_axes(slice), Algorithm::reduce_broadcast, 1e9,
                                 4 * 1048576.0);
        c.link.rate = sim::BytesPerSecond(4.5e10);
        c.link.latency = sim::Seconds(1e-6);
        const double bound = physical_bound(c.call(), c.link.rate).value();
        EXPECT_GE(bound / run_on(folded(c), c).result.end.seconds(), row.share) << describe(c);
    }
}

}  // namespace
}  // namespace podsim::collectives
