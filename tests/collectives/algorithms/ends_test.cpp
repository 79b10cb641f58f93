// Permute, send, broadcast, gather and scatter bring every byte to its destination, over all small
// shapes, in the times of their equations.
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "collectives/algorithms/send.h"
#include "collectives/catalogue/bounds.h"
#include "tests/collectives/carriers/checks.h"
#include "tests/collectives/carriers/collective_support.h"
#include "tests/collectives/carriers/piece_carrier.h"

namespace podsim::collectives {
namespace {

/// Bytes of one member.
constexpr double kShare = 48e3;
constexpr std::array kWithEnds{Operation::permute, Operation::send, Operation::broadcast,
                               Operation::gather, Operation::scatter};

Case make_with_ends(const topology::Lattice& slice, const Group& group, Operation operation) {
    Case c;
    c.operation = operation;
    c.slice = slice;
    c.group = operation == Operation::send ? Group{} : group;
    // A broadcast is cut into messages of 4 KiB anyway.
    c.v = sim::Bytes(kShare * (operation == Operation::broadcast ? 4 : group_size(group)));
    c.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-7)};
    c.options.hop_bytes = sim::Bytes(9e10 * 1e-7);
    c.ends.to = slice.point(slice.size() - 1);
    return c;
}

void prove_carried(const Case& c) {
    ASSERT_EQ(carry(c), "") << describe(c);
    if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << describe(c);
    }
}

/// Runs every operation with ends that rotate over all
/// chips, a cap that cuts a share, and both latency rules.
void prove_with_ends(const topology::Lattice& slice, const Group& group, std::size_t& turn) {
    for (const Operation operation : kWithEnds) {
        Case c = make_with_ends(slice, group, operation);
        ++turn;
        c.ends.root = slice.point(static_cast<int>(turn % static_cast<std::size_t>(slice.size())));
        c.ends.to =
            slice.point(static_cast<int>((turn * 7 + 3) % static_cast<std::size_t>(slice.size())));
        if (c.ends.to == c.ends.root) {
            c.ends.to = slice.point((slice.index(c.ends.root) + 1) % slice.size());
        }
        c.ends.shift = 1 + static_cast<int>(turn % 5);
        c.options.message_cap = sim::Bytes(turn % 2 == 0 ? 1e9 : kShare / 3.5);
        c.link.rule = turn % 3 == 0 ? sim::LatencyRule::floor : sim::LatencyRule::additive;
        if (operation != Operation::send || slice.size() > 1) {
            prove_carried(c);
        }
    }
}

/// Runs every length, wrapped or not, with every root, every shift and every pair of chips.
TEST(EndsTest, OneAxisFromAndToEveryChip) {
    for (int length = 2; length <= 6; ++length) {
        for (const unsigned wrapped : {0U, 1U}) {
            const topology::Lattice slice = box({length, 1, 1}, wrapped);
            for (const double cap : {1e9, kShare / 1.5, kShare / 5}) {
                for (const Operation operation : kWithEnds) {
                    Case c = make_with_ends(slice, whole_axes(slice), operation);
                    c.options.message_cap = sim::Bytes(cap);
                    for (int root = 0; root < length; ++root) {
                        for (int to = 0; to < length; ++to) {
                            c.ends = {slice.point(root), slice.point(to), to - root};
                            if (root != to) {
                                prove_carried(c);
                                ASSERT_FALSE(HasFailure());
                            }
                        }
                    }
                }
            }
        }
    }
}

TEST(EndsTest, OneAxisFactors) {
    std::size_t turn = 0;
    for (const int length : {4, 6, 8, 12}) {
        for (const unsigned wrapped : {0U, 1U}) {
            const topology::Lattice slice = box({length, 1, 1}, wrapped);
            for (int stride = 1; stride < length; ++stride) {
                for (int members = 2; stride * members <= length; ++members) {
                    if (length % (stride * members) == 0) {
                        prove_with_ends(slice, {{0, stride, members}}, turn);
                        ASSERT_FALSE(HasFailure());
                    }
                }
            }
        }
    }
    for (const unsigned wrapped : {0U, 1U}) {
        prove_with_ends(box({8, 1, 1}, wrapped), {{0, 1, 2}, {0, 4, 2}}, turn);      // x%2 x/4
        prove_with_ends(box({4, 6, 1}, 3 * wrapped), {{0, 2, 2}, {1, 1, 3}}, turn);  // x/2 y%3
        prove_with_ends(box({4, 6, 1}, 3 * wrapped), {{1, 1, 6}}, turn);             // y
        ASSERT_FALSE(HasFailure());
    }
}

TEST(EndsTest, TwoAxes) {
    std::size_t turn = 0;
    for (int x = 1; x <= 4; ++x) {
        for (int y = 1; y <= 4; ++y) {
            for (const unsigned wrapped : {0U, 1U, 2U, 3U}) {
                const topology::Lattice slice = box({x, y, 1}, wrapped);
                for (int again = 0; again < 4 && slice.size() > 1; ++again) {
                    prove_with_ends(slice, whole_axes(slice), turn);
                }
                ASSERT_FALSE(HasFailure());
            }
        }
    }
}

TEST(EndsTest, ThreeAxes) {
    std::size_t turn = 0;
    for (int shape = 1; shape < 64; ++shape) {
        for (unsigned wrapped = 0; wrapped < 8; ++wrapped) {
            const topology::Lattice slice =
                box({1 + shape / 16, 1 + shape / 4 % 4, 1 + shape % 4}, wrapped);
            prove_with_ends(slice, whole_axes(slice), turn);
            ASSERT_FALSE(HasFailure());
        }
    }
}

TEST(EndsTest, TwistedSlices) {
    std::size_t turn = 0;
    for (const topology::Point shape : {topology::Point{2, 2, 4}, topology::Point{2, 4, 4},
                                        topology::Point{4, 4, 8}, topology::Point{4, 8, 8}}) {
        const topology::Lattice slice = twisted(shape);
        for (const unsigned axes : {7U, 1U, 4U}) {
            prove_with_ends(slice, whole_axes(slice, axes), turn);
            ASSERT_FALSE(HasFailure());
        }
    }
}

TEST(EndsTest, RandomCases) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        Case c = random_case(random, 8, 36);
        c.operation = random.pick(kWithEnds);
        c.algorithm = Algorithm::automatic;
        c.ends.root = c.slice.point(random.below(c.slice.size()));
        c.ends.to = c.slice.point(random.below(c.slice.size()));
        c.ends.shift = random.between(-9, 9);
        c.options.message_cap = sim::Bytes(c.v.value() / random.between(1, 20));
        c.options.hop_bytes = sim::Bytes(random.coin() ? 0 : 9e4);
        if (c.operation == Operation::send && c.ends.root == c.ends.to) {
            continue;
        }
        SCOPED_TRACE("seed " + std::to_string(seed));
        prove_carried(c);
        ASSERT_FALSE(HasFailure());
    }
}

sim::Time time_of(const Case& c) {
    return run_on(folded(c), c).result.end;
}

/// Returns a case with the links of v5e: 45 GB/s and 1 us.
Case on_v5e(const topology::Lattice& slice, Operation operation, double v) {
    Case c = make_with_ends(slice, whole_axes(slice), operation);
    c.v = sim::Bytes(v);
    c.link = {.rate = sim::BytesPerSecond(4.5e10), .latency = sim::Seconds(1e-6)};
    c.options.hop_bytes = sim::Bytes(4.5e4);
    return c;
}

// A send from corner to corner of a 4x4 mesh has two routes of 6 links. Each carries half of
// 16777216 B in 2 messages of 4 MiB: 4194304 / 45e9 = 93.2067555... us, rounded up to the
// picosecond. The first byte arrives after 6 us, the last 2 x 93.206756 us later. The reference
// text says 188 us: 17e6 B over two links, without the 6 us.
TEST(EndsTest, SendAcrossAMesh) {
    Case c = on_v5e(box({4, 4, 1}, 0), Operation::send, 16777216);
    EXPECT_EQ(time_of(c).ps, 6'000'000 + 2 * 93'206'756);
    // One byte takes both shortest routes, half a byte each, 11.1 ps: 6 us and 12 ps.
    c.v = sim::Bytes(1);
    EXPECT_EQ(time_of(c).ps, 6'000'000 + 12);
}

// The send goes between neighbours on a 4x4 mesh, (1,1) to (2,1): over the direct link, and over
// detours of 3 links. In bytes at 45 GB/s a hop is 45 kB. 1 link takes V + 45 kB. 3 routes take (V
// + 7 x 45 kB) / 3, which is less from V = 90 kB on; two routes, (V + 4 x 45 kB) / 2, are level
// with both there. The fourth route has to leave backwards and to cross in the row y = 3: 16 links
// together, (V + 16 x 45 kB) / 4, from V = 900 kB on.
TEST(EndsTest, SendTakesDetoursWhenTheyPay) {
    Case c = on_v5e(box({4, 4, 1}, 0), Operation::send, 89e3);
    c.ends = {{1, 1, 0}, {2, 1, 0}, 1};
    const auto lengths = [&](double v) {
        std::vector<int> links;
        c.v = sim::Bytes(v);
        for (const Route& route : send_routes(c.call(), c.options.hop_bytes)) {
            links.push_back(route.links());
        }
        return links;
    };
    EXPECT_EQ(lengths(89e3), (std::vector{1}));
    EXPECT_EQ(lengths(91e3), (std::vector{1, 3, 3}));
    EXPECT_EQ(lengths(899e3), (std::vector{1, 3, 3}));
    const std::vector<int> four = lengths(901e3);
    EXPECT_EQ(four.size(), 4U);
    EXPECT_EQ(std::accumulate(four.begin(), four.end(), 0), 16);
    // For 1800 kB, T = (1800 + 720) / 4 = 630 kB: 14 us, except for the rounding of shares.
    c.v = sim::Bytes(1800e3);
    EXPECT_NEAR(static_cast<double>(time_of(c).ps), 14e6, 2);
}

// All routes of a send end at the same time within the rounding of their messages.
TEST(EndsTest, RoutesOfASendEndTogether) {
    Case c = on_v5e(box({8, 8, 8}, 7), Operation::send, 1e8);
    c.ends = {{0, 0, 0}, {1, 3, 4}, 1};
    const std::vector<Route> routes = send_routes(c.call(), c.options.hop_bytes);
    ASSERT_EQ(routes.size(), 6U);
    for (const Route& route : routes) {
        EXPECT_NEAR(1e8 * route.share / 4.5e10 + 1e-6 * route.links(),
                    1e8 * routes[0].share / 4.5e10 + 1e-6 * routes[0].links(), 1e-12);
    }
}

// A gather brings int8[131072,131072] over a 4x4 mesh to its corner: 15 of 16 parts of 2^34 B come
// through two links, 7.5 parts each: 8053063680 B at 45 GB/s are 178.957 ms. The reference text has
// 15e9 B: 167 ms. By rows and then columns, 12 of the 16 parts would come through one link: 286 ms.
TEST(EndsTest, GatherBalancesTheLinksOfACorner) {
    const Case c = on_v5e(box({4, 4, 1}, 0), Operation::gather, 17179869184.0);
    const Outcome run = run_on(folded(c), c);
    EXPECT_NEAR(run.result.end.seconds(), 8053063680.0 / 4.5e10 + 1e-6, 2e-9);
    const auto carried = [&](topology::Point chip, int axis) {
        const auto place = static_cast<std::size_t>(c.slice.index(chip));
        return run.result.links[place * kIciPorts + port_of(axis, -1)].carried().value();
    };
    EXPECT_NEAR(carried({1, 0, 0}, 0), 8053063680.0, 1);
    EXPECT_NEAR(carried({0, 1, 0}, 1), 8053063680.0, 1);
}

/// Checks bound / time_of for large arrays and every root.
TEST(EndsTest, NearTheBound) {
    for (const topology::Lattice& slice : {box({4, 4, 1}, 0), box({4, 4, 4}, 7), box({8, 4, 2}, 0),
                                           box({6, 5, 1}, 1), twisted({4, 4, 8})}) {
        for (const Operation operation :
             {Operation::gather, Operation::scatter, Operation::broadcast}) {
            Case c = on_v5e(slice, operation, 4e9);
            if (operation == Operation::broadcast && slice.size() > 32) {
                continue;  // a million messages
            }
            for (const int root : {0, slice.size() / 3}) {
                c.ends.root = slice.point(root);
                const double bound = physical_bound(c.call(), c.link.rate).value();
                const double least = operation == Operation::broadcast ? 0.95 : 0.999;
                EXPECT_GE(bound / time_of(c).seconds(), least) << describe(c);
            }
        }
    }
}

// The links of the root do not always limit the best flow into it. On an 8x2
// mesh from (0,0), the links (1,*) to (0,*) carry 14 of 16 shares, 7 each;
// the root's own two links carry 15, 7.5 each, which is the bound. On a line
// of 8 from (4,0), 4 shares come from the left and 3 from the right: 4.
TEST(EndsTest, BoundsOfGathers) {
    const auto shares = [](const topology::Lattice& slice, topology::Point root) {
        Case c = on_v5e(slice, Operation::gather, 4.5e10 * slice.size());
        c.ends.root = root;
        return physical_bound(c.call(), c.link.rate).value();
    };
    EXPECT_DOUBLE_EQ(shares(box({8, 2, 1}, 0), {0, 0, 0}), 7.5);
    EXPECT_DOUBLE_EQ(shares(box({8, 1, 1}, 0), {4, 0, 0}), 4);
    EXPECT_DOUBLE_EQ(shares(box({8, 1, 1}, 1), {4, 0, 0}), 3.5);
    // On 8x2 from (4,0) the root has three links. 8 shares come from the left over two links and 6
    // from the right; 15 / 3 = 5 is the largest load.
    EXPECT_DOUBLE_EQ(shares(box({8, 2, 1}, 0), {4, 0, 0}), 5);
    // The group is a 3x3 mesh of stride 2 along x, whose links there have half the rate.
    Case c = on_v5e(box({6, 3, 1}, 0), Operation::gather, 4.5e10 * 9);
    c.group = {{0, 2, 3}, {1, 1, 3}};
    EXPECT_DOUBLE_EQ(physical_bound(c.call(), c.link.rate).value(), 8 / 1.5);
}

// On a ring of n with shift d, every link carries at least d (n - d) / n of a share.
TEST(EndsTest, BoundsOfPermutes) {
    const auto shares = [](const topology::Lattice& slice, int shift) {
        Case c = on_v5e(slice, Operation::permute, 4.5e10 * slice.size());
        c.ends.shift = shift;
        return physical_bound(c.call(), c.link.rate).value();
    };
    EXPECT_DOUBLE_EQ(shares(box({8, 1, 1}, 1), 1), 7.0 / 8);
    EXPECT_DOUBLE_EQ(shares(box({8, 1, 1}, 1), 2), 1.5);
    EXPECT_DOUBLE_EQ(shares(box({8, 1, 1}, 1), 4), 2);
    EXPECT_DOUBLE_EQ(shares(box({8, 1, 1}, 1), -2), 1.5);
    // On a line 3 shares go forward over the middle and 3 come back.
    EXPECT_DOUBLE_EQ(shares(box({8, 1, 1}, 0), 3), 3);
    EXPECT_DOUBLE_EQ(shares(box({8, 1, 1}, 0), 1), 1);
}

// On a ring of 8 with shift 2 at 45 GB/s, each of 8 shares is 3.6 MB (80 us). The shortest routes
// load every forward link with 2 shares, 160 us. Sending a quarter in the other direction loads
// each link of both directions with 1.5, 120 us.
TEST(EndsTest, PermuteGoesBothWaysRound) {
    Case c = on_v5e(box({8, 1, 1}, 1), Operation::permute, 8 * 3.6e6);
    c.ends.shift = 2;
    c.link.latency = {};
    c.options.hop_bytes = {};
    c.algorithm = Algorithm::shortest;
    EXPECT_EQ(time_of(c).ps, 160'000'000);
    c.algorithm = Algorithm::automatic;
    EXPECT_EQ(time_of(c).ps, 120'000'000);
    EXPECT_EQ(folded(c).size(), 1);
    // With 45 kB of latency a link, the longer direction pays
    // if half a share is more than 4 links: from 360 kB on.
    c.options.hop_bytes = sim::Bytes(45e3);
    const auto hops = [&](double share) {
        c.v = sim::Bytes(8 * share);
        return run_on(folded(c), c).built.hops;
    };
    EXPECT_EQ(hops(359e3), 2);
    EXPECT_EQ(hops(361e3), 6);
}

// Groups of 4 lie on a ring of 12, shift 1. Three members go one link forward, the last goes three
// back, so that every link within a group carries one share in each direction: 80 us for 3.6 MB. If
// shares went round the ring as well, a forward link would carry 11/12 of its own member's share
// and a quarter of the shares that the last members of two groups send round, 17/12.
TEST(EndsTest, PermuteGoesRoundOnlyWhereThatPays) {
    Case c = on_v5e(box({12, 1, 1}, 1), Operation::permute, 4 * 3.6e6);
    c.group = {{0, 1, 4}};
    c.ends.shift = 1;
    c.link.latency = {};
    c.options.hop_bytes = {};
    EXPECT_EQ(time_of(c).ps, 80'000'000);
    EXPECT_EQ(run_on(folded(c), c).built.hops, 3);
    // On a 4x4 torus all shares go one link along y, where both directions pay (3/4 of a share). A
    // quarter of them also go one link along x, which loads no link with more than a half. The hops
    // are 3 links in the other direction, and one along x.
    c = on_v5e(box({4, 4, 1}, 3), Operation::permute, 16 * 3.6e6);
    c.ends.shift = 1;
    c.options.hop_bytes = sim::Bytes(45e3);
    EXPECT_EQ(run_on(folded(c), c).built.hops, 4);
}

/// The description names what carries the bytes; hops are the links up to the last byte's arrival.
TEST(EndsTest, SaysWhatCarriesTheBytes) {
    const auto built = [](Operation operation, const topology::Lattice& slice, double v,
                          const Ends& ends) {
        Case c = make_with_ends(slice, whole_axes(slice), operation);
        c.v = sim::Bytes(v);
        c.ends = ends;
        const CollectiveSchedule schedule = run_on(slice, c).built;
        return std::pair(schedule.served, schedule.hops);
    };
    const topology::Lattice ring = box({4, 1, 1}, 1);
    const topology::Lattice line = box({3, 1, 1}, 0);
    const Ends neighbours{.root = {0, 0, 0}, .to = {1, 0, 0}};
    EXPECT_EQ(built(Operation::send, ring, 1, neighbours),
              std::pair(std::string("one route of 1 links"), 1));
    EXPECT_EQ(built(Operation::send, ring, 1e6, neighbours),
              std::pair(std::string("2 disjoint routes of 1, 3 links"), 3));
    EXPECT_EQ(built(Operation::gather, line, 1e4, {.root = {1, 0, 0}}),
              std::pair(std::string("2 routes over the 2 links of the root"), 1));
    EXPECT_EQ(built(Operation::scatter, line, 1e4, {.root = {0, 0, 0}}),
              std::pair(std::string("2 routes over the 1 links of the root"), 2));
    // From the end of a line one tree carries ten messages
    // of 4 KiB. A ring has two trees in opposite directions.
    EXPECT_EQ(built(Operation::broadcast, line, 40960, {.root = {0, 0, 0}}),
              std::pair(std::string("one tree, 2 deep, 10 messages"), 2));
    EXPECT_EQ(built(Operation::broadcast, ring, 409600, {.root = {0, 0, 0}}),
              std::pair(std::string("2 disjoint trees, 3 deep, 50 messages each"), 3));
}

/// The closed form of a broadcast needs groups of adjacent chips. A single member takes no time.
TEST(EndsTest, ClosedFormsOfGroupsApart) {
    Case c = make_with_ends(box({8, 1, 1}, 1), {{0, 2, 4}}, Operation::broadcast);
    EXPECT_EQ(closed_form(c.call(), c.options, c.link), std::nullopt);
    c.group = {};
    EXPECT_EQ(closed_form(c.call(), c.options, c.link), sim::Time{});
    c = make_with_ends(box({8, 1, 1}, 1), {}, Operation::send);
    EXPECT_EQ(closed_form(c.call(), c.options, c.link), run_on(c.slice, c).result.end);
}

}  // namespace
}  // namespace podsim::collectives
