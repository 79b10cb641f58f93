// Collectives between slices: arrivals, folds, times
// of an independent simulator, and times by hand.
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <optional>
#include <string>

#include "tests/collectives/carriers/checks.h"
#include "tests/collectives/slices/slices_brute_force.h"
#include "tests/collectives/slices/slices_carrier.h"
#include "tests/collectives/slices/slices_support.h"
#include "topology/lattice/hosts.h"

namespace podsim::collectives {
namespace {

using topology::Point;

/// Returns a case with the links of v5p: PCIe 15 GB/s and 1
/// us, DCN 25 GB/s a host and 10 us, ICI 90 GB/s and 1 us.
SlicesCase make_slices_case(Operation operation, const topology::Lattice& slice, int slices,
                            double v) {
    SlicesCase c;
    c.within.operation = operation;
    c.within.slice = slice;
    c.within.v = sim::Bytes(v);
    c.within.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-6)};
    c.slices = slices;
    c.across = {1, slices};
    c.pcie = {.rate = sim::BytesPerSecond(1.5e10), .latency = {1'000'000}};
    c.dcn = {.rate = sim::BytesPerSecond(2.5e10), .latency = {10'000'000}};
    return c;
}

/// Operations that have a form between slices.
constexpr std::array kAcrossSlices{Operation::all_gather, Operation::reduce_scatter,
                                   Operation::all_reduce, Operation::all_to_all};

void expect_data_arrives(const SlicesCase& c) {
    std::optional<SlicesCarrier> carrier;
    const Outcome run = run_on(c.whole(), c, [&](const CollectiveSchedule& built, sim::Workload&) {
        return &carrier.emplace(c, built);
    });
    carrier->check_result();
    ASSERT_EQ(carrier->error(), "");
    // A member receives exactly the bytes that it lacks. If the operation reduces on lines, members
    // also receive sums that they pass on.
    const Group& group = c.within.group;
    const bool passes_sums_on = c.within.operation != Operation::all_gather &&
                                std::ranges::any_of(group, [&](const auto& f) {
                                    return f.length > 2 && !factor_kind(c.within.slice, f).ring;
                                });
    const double n = c.members().size();
    const double v = c.within.v.value();
    const double expected = c.within.operation == Operation::all_to_all   ? v * (n - 1) / n / n
                            : c.within.operation == Operation::all_reduce ? 2 * v * (n - 1) / n
                                                                          : v * (n - 1) / n;
    for (const double bytes : carrier->received()) {
        if (passes_sums_on && c.within.operation != Operation::all_to_all) {
            const LeastTraffic least =
                least_traffic(c.within.operation, c.members().size(), c.within.v);
            ASSERT_GE(bytes, least.receive.value() * (1 - 1e-9));
        } else {
            ASSERT_NEAR(bytes, expected, 1e-9 * v);
        }
    }
    expect_links_conserve_bytes(run);
}

TEST(MultisliceTest, DataArrivesOnEveryKindOfSlice) {
    const std::array slices{box({4, 1, 1}, 1), box({4, 1, 1}, 0), box({4, 2, 1}, 3),
                            box({3, 2, 1}, 2), box({2, 2, 2}, 7), box({2, 2, 2}, 0),
                            box({1, 1, 1}, 0), twisted({2, 2, 4})};
    for (const topology::Lattice& slice : slices) {
        for (const Operation operation : kAcrossSlices) {
            for (const auto& [count, across] : {std::pair{2, topology::SliceFactor{1, 2}},
                                                {3, topology::SliceFactor{1, 3}},
                                                {4, topology::SliceFactor{1, 4}},
                                                {4, topology::SliceFactor{1, 2}},
                                                {4, topology::SliceFactor{2, 2}}}) {
                for (const bool in_slice : {true, false}) {
                    for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::flat}) {
                        if (algorithm == Algorithm::flat && operation == Operation::all_to_all) {
                            continue;
                        }
                        SlicesCase c = make_slices_case(operation, slice, count, 4e6);
                        c.across = across;
                        c.within.group = in_slice ? whole_axes(slice) : Group{};
                        c.within.algorithm = algorithm;
                        c.within.options.message_cap = sim::Bytes(4e5);
                        c.within.options.chunks_between_slices = 2;
                        c.host_box = topology::Hosts(slice, {2, 2, 1}).box();
                        SCOPED_TRACE(describe(c));
                        expect_data_arrives(c);
                        ASSERT_FALSE(HasFailure());
                    }
                }
            }
        }
    }
}

TEST(MultisliceTest, DataArrivesInRandomCases) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        Random random(seed);
        SlicesCase c = random_slices_case(random, 6, 16, 4);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(c));
        if (c.members().size() > 64) {
            continue;
        }
        std::optional<SlicesCarrier> carrier;
        run_on(c.whole(), c, [&](const CollectiveSchedule& built, sim::Workload&) {
            return &carrier.emplace(c, built);
        });
        carrier->check_result();
        ASSERT_EQ(carrier->error(), "");
    }
}

/// Returns the index of the place in the fold that stands for a chip of the whole slice.
std::size_t stands_for(const topology::Places& fold, const Point& chip) {
    Point place;
    for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
        place[axis] = chip[axis] % fold.chips.lengths[axis];
    }
    return static_cast<std::size_t>(fold.index(place));
}

void expect_fold_of_slices_is_equal(const SlicesCase& c) {
    const topology::Places fold = c.folded();
    const topology::Places places = c.whole();
    const Outcome small = run_on(fold, c);
    const Outcome whole = run_on(places, c);
    ASSERT_EQ(places.size() % fold.size(), 0);
    ASSERT_EQ(small.result.end.ps, whole.result.end.ps);
    ASSERT_EQ(small.result.events * static_cast<std::uint64_t>(places.size() / fold.size()),
              whole.result.events);
    for (int i = 0; i < places.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const std::size_t place = stands_for(fold, places.point(i));
        ASSERT_EQ(small.result.end_of_place[place].ps, whole.result.end_of_place[at].ps);
        for (std::size_t port = 0; port < kAllPorts; ++port) {
            const sim::LinkTotals& one = small.result.links[place * kAllPorts + port];
            const sim::LinkTotals& other = whole.result.links[at * kAllPorts + port];
            ASSERT_EQ(one.busy.ps, other.busy.ps) << "place " << i << ", port " << port;
            ASSERT_EQ(one.carried_units, other.carried_units);
        }
    }
}

TEST(MultisliceTest, FoldedIsUnfolded) {
    int folded = 0;
    int clipped = 0;
    for (std::uint64_t seed = 1; seed <= 250; ++seed) {
        Random random(seed);
        const SlicesCase c = random_slices_case(random, 9, 40, 4);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(c));
        expect_fold_of_slices_is_equal(c);
        ASSERT_FALSE(HasFailure());
        folded += c.folded().size() < c.within.slice.size() ? 1 : 0;
        for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
            clipped += c.within.slice.lengths[axis] % c.host_box[axis] != 0 ? 1 : 0;
        }
    }
    EXPECT_GT(folded, 60);
    // Cases in which hosts do not divide an axis.
    EXPECT_GT(clipped, 20);
}

TEST(MultisliceTest, AgreesWithTheBruteForce) {
    std::array<int, 4> of_operation{};
    for (std::uint64_t seed = 1; seed <= 160; ++seed) {
        Random random(seed);
        SlicesCase c = random_slices_case(random, 6, 8, 4);
        c.within.options.chunks_between_slices =
            std::min(c.within.options.chunks_between_slices, 3);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(c));
        ASSERT_EQ(run_on(c.whole(), c).result.end.ps, brute_force(c).ps);
        ++of_operation[static_cast<std::size_t>(c.within.operation)];
    }
    for (const int cases : of_operation) {
        EXPECT_GT(cases, 15);
    }
}

/// Hosts of 2 on rings of 3, 5 and 7 leave a host of 1. Past the end of the ring the chips of two
/// source hosts send to one host at the same time, and differ only in their positions.
TEST(MultisliceTest, SmallerHostsAtTheEndOfARing) {
    for (const int length : {3, 5, 7}) {
        for (const Operation operation : kAcrossSlices) {
            SlicesCase c = make_slices_case(operation, box({length, 1, 1}, 1), 2, 1e6);
            c.within.group = whole_axes(c.within.slice);
            c.within.options.chunks_between_slices = 2;
            c.host_box = {2, 1, 1};
            SCOPED_TRACE(describe(c));
            ASSERT_EQ(run_on(c.whole(), c).result.end.ps, brute_force(c).ps);
            // All messages arrive at one instant; only the index in the host orders them.
            c.pcie.rate = c.dcn.rate = sim::BytesPerSecond::infinity();
            ASSERT_EQ(run_on(c.whole(), c).result.end.ps, brute_force(c).ps);
        }
    }
}

/// One chip in each of 2 slices has V = 30 MB: a block of 15 MB takes 1 ms over PCIe. The other
/// links are faster and cut through: each message goes on when its head has come, so that the last
/// byte is 1 + 10 + 1 us behind.
TEST(MultisliceTest, OneChipInEachOfTwoSlices) {
    for (const double cap : {1e9, 15e6 / 4}) {
        SlicesCase c = make_slices_case(Operation::all_gather, box({1, 1, 1}, 0), 2, 30e6);
        c.within.options.message_cap = sim::Bytes(cap);
        EXPECT_EQ(run_on(c.whole(), c).result.end.ps, 1'012'000'000);
        EXPECT_EQ(brute_force(c).ps, 1'012'000'000);
        c.within.operation = Operation::reduce_scatter;
        EXPECT_EQ(run_on(c.whole(), c).result.end.ps, 1'012'000'000);
        // The second half begins when the first has ended.
        c.within.operation = Operation::all_reduce;
        EXPECT_EQ(run_on(c.whole(), c).result.end.ps, 2'024'000'000);
        // V / 4 = 7.5 MB go to the other slice.
        c.within.operation = Operation::all_to_all;
        EXPECT_EQ(run_on(c.whole(), c).result.end.ps, 512'000'000);
        // With three slices two blocks of 10 MB follow
        // each other on the chip's PCIe link, 2/3 ms each.
        c = make_slices_case(Operation::all_gather, box({1, 1, 1}, 0), 3, 30e6);
        c.within.options.message_cap = sim::Bytes(1e9);
        EXPECT_EQ(run_on(c.whole(), c).result.end.ps, 2 * 666'666'667 + 12'000'000);
    }
}

/// The h chips of one host each have their own peer. Blocks are 4 messages of 15 kB, with p = 1 us
/// on PCIe and d = 0.6 us on the host's link (1.2 us if oversubscribed twice).
TEST(MultisliceTest, ChipsOfAHostShareItsLink) {
    const auto run = [](int chips, double oversubscription) {
        SlicesCase c = make_slices_case(Operation::all_gather, box({chips, 1, 1}, 1), 2, 2 * 60e3);
        c.within.options.message_cap = sim::Bytes(15e3);
        c.host_box = {chips, 1, 1};
        c.dcn.rate = c.dcn.rate / oversubscription;
        EXPECT_EQ(brute_force(c).ps, run_on(c.whole(), c).result.end.ps);
        expect_fold_of_slices_is_equal(c);
        return run_on(c.folded(), c).result.end.ps;
    };
    constexpr std::int64_t kLatency = 12'000'000;
    // With one chip PCIe sets the pace: 4 p.
    EXPECT_EQ(run(1, 1), 4'000'000 + kLatency);
    // The first message holds the host's link for p, the time its bytes
    // take to come. All others are there in time and take d. The last
    // starts after p + (4 h - 2) d and then takes p on the last link.
    EXPECT_EQ(run(2, 1), 1'000'000 + 6 * 600'000 + 1'000'000 + kLatency);
    EXPECT_EQ(run(4, 1), 1'000'000 + 14 * 600'000 + 1'000'000 + kLatency);
    // If d > p, the host's link works from the first
    // head to the end, 4 h d; the last link keeps up.
    EXPECT_EQ(run(2, 2), 8 * 1'200'000 + kLatency);
    EXPECT_EQ(run(4, 2), 16 * 1'200'000 + kLatency);
}

/// Four messages of 1 us over PCIe occupy the faster links behind it for just as long: a link is
/// held until the last byte has come, which takes the latency of the link before it, not its own.
TEST(MultisliceTest, TheNetworksLatencyDoesNotHoldTheHostsLink) {
    SlicesCase c = make_slices_case(Operation::all_gather, box({1, 1, 1}, 0), 2, 2 * 60e3);
    c.within.options.message_cap = sim::Bytes(15e3);
    const Outcome run = run_on(c.folded(), c);
    EXPECT_EQ(run.result.links[kDcnOut].busy.ps, 4'000'000);
    EXPECT_EQ(run.result.links[kDcnIn].busy.ps, 4'000'000);
}

/// Bytes on PCIe and DCN of 4x2 in 2 hosts, S = 3 slices, n = 8, V = 24 MB:
///   every chip sends its block V / (n S) to S - 1 slices; flat, it sends its slice's whole block,
///   V / S.
///   AllToAll: (S - 1) n pairs of V / (n S)^2.
TEST(MultisliceTest, BytesBetweenSlices) {
    const auto bytes = [](Operation operation, Algorithm algorithm) {
        SlicesCase c = make_slices_case(operation, box({4, 2, 1}, 1), 3, 24e6);
        c.within.group = whole_axes(c.within.slice);
        c.within.algorithm = algorithm;
        c.host_box = {2, 2, 1};
        const Outcome run = run_on(c.whole(), c);
        double pcie = 0;
        for (std::size_t place = 0; place < 24; ++place) {
            const auto carried = [&](std::uint32_t port) {
                return run.result.links[place * kAllPorts + port].carried().value();
            };
            pcie = carried(kPcieToHost);
            EXPECT_NEAR(carried(kPcieToChip), pcie, 1);
            const Point chip = c.whole().point(static_cast<int>(place));
            const bool stands_for_host = chip[0] % 2 == 0 && chip[1] == 0;
            EXPECT_NEAR(carried(kDcnOut), stands_for_host ? 4 * pcie : 0, 4);
            EXPECT_NEAR(carried(kDcnIn), stands_for_host ? 4 * pcie : 0, 4);
        }
        return pcie;
    };
    EXPECT_NEAR(bytes(Operation::all_gather, Algorithm::automatic), 2e6, 1);
    EXPECT_NEAR(bytes(Operation::reduce_scatter, Algorithm::automatic), 2e6, 1);
    EXPECT_NEAR(bytes(Operation::all_reduce, Algorithm::automatic), 4e6, 1);
    EXPECT_NEAR(bytes(Operation::all_gather, Algorithm::flat), 16e6, 1);
    EXPECT_NEAR(bytes(Operation::all_to_all, Algorithm::automatic), 24e6 * 16 / 576, 1);
}

TEST(MultisliceTest, NothingBeatsTheBound) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        const SlicesCase c = random_slices_case(random, 8, 32, 4);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(c));
        const Outcome run = run_on(c.folded(), c);
        const Case& w = c.within;
        const double bound = physical_bound(c.call(), w.link.rate, c.links()).value();
        ASSERT_GE(run.result.end.ps, static_cast<std::int64_t>(bound * 1e12));
        expect_links_conserve_bytes(run);
        ASSERT_FALSE(HasFailure());
    }
}

/// A 4x2 slice has 2 hosts, S = 2, V = 1.6 GB. For an AllReduce of the whole slice, its one group
/// must send and receive V over 2 x 25 GB/s: 32 ms; over 8 x 15 GB/s 13.3 ms. For an AllGather V /
/// 2 goes out and in: 16 ms. With groups of one chip there are 8 groups and 8 times the bytes; over
/// PCIe V / 15 GB/s, 106.7 ms, is less than 256 ms. For an AllToAll of the slice 8 chips send V /
/// (16 x 2) each: V / 4 over 50 GB/s, 8 ms. Within a slice the pairs are those of an AllToAll of V
/// / 4: over the ring of 4, V / 4 / 8 / 2 a line at 90 GB/s, which is less.
TEST(MultisliceTest, BoundsByHand) {
    const topology::Lattice slice = box({4, 2, 1}, 1);
    const SliceLinks links{
        .pcie = sim::BytesPerSecond(1.5e10), .dcn = sim::BytesPerSecond(2.5e10), .hosts = 2};
    const auto bound = [&](Operation operation, const Group& group) {
        return physical_bound({.operation = operation,
                               .slice = slice,
                               .members = {group, {1, 2}},
                               .bytes = sim::Bytes(1.6e9)},
                              sim::BytesPerSecond(9e10), links)
            .value();
    };
    EXPECT_DOUBLE_EQ(bound(Operation::all_reduce, whole_axes(slice)), 0.032);
    EXPECT_DOUBLE_EQ(bound(Operation::all_gather, whole_axes(slice)), 0.016);
    EXPECT_DOUBLE_EQ(bound(Operation::reduce_scatter, whole_axes(slice)), 0.016);
    EXPECT_DOUBLE_EQ(bound(Operation::all_reduce, {}), 0.256);
    EXPECT_DOUBLE_EQ(bound(Operation::all_to_all, whole_axes(slice)), 0.008);
    // If DCN and PCIe are infinitely fast, the busiest ICI link remains: the line of 2 between 4
    // pairs of columns, with V / 4 / 2 / 2 / 4 = 25 MB in each direction.
    const SliceLinks endless{.pcie = sim::BytesPerSecond::infinity(),
                             .dcn = sim::BytesPerSecond::infinity(),
                             .hosts = 2};
    EXPECT_DOUBLE_EQ(physical_bound({.operation = Operation::all_to_all,
                                     .slice = slice,
                                     .members = {whole_axes(slice), {1, 2}},
                                     .bytes = sim::Bytes(1.6e9)},
                                    sim::BytesPerSecond(9e10), endless)
                         .value(),
                     25e6 / 9e10);
}

/// Large arrays keep the hosts' links busy. Bound over
/// time is 0.931, 0.962, 0.950 and, for AllToAll, 0.973.
TEST(MultisliceTest, LargeArraysComeNearTheBound) {
    struct Large {
        Operation operation;
        Point shape;
        int slices;
        double v;
        double least;
    };
    for (const Large& large : {Large{Operation::all_reduce, {4, 4, 4}, 4, 1e9, 0.92},
                               Large{Operation::all_reduce, {8, 8, 8}, 2, 1e9, 0.95},
                               Large{Operation::all_reduce, {4, 4, 4}, 32, 1e9, 0.94},
                               Large{Operation::all_to_all, {4, 4, 4}, 4, 1e9, 0.96}}) {
        SlicesCase c =
            make_slices_case(large.operation, box(large.shape, 7), large.slices, large.v);
        c.within.group = whole_axes(c.within.slice);
        c.host_box = {2, 2, 1};
        const Case& w = c.within;
        const double bound = physical_bound(c.call(), w.link.rate, c.links()).value();
        const double reached = bound / run_on(c.folded(), c).result.end.seconds();
        EXPECT_GE(reached, large.least) << describe(c);
    }
}

}  // namespace
}  // namespace podsim::collectives
