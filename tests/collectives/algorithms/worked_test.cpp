// The worked collectives of "How to Scale Your Model" (Austin et al., Google DeepMind, 2025,
// section 3): the simulated time as a sum of named terms, exact to the picosecond, beside the
// book's own number.
//
// The book's form for a ring is V / W, W both directions of a link: it takes the bytes that every
// member receives as V. A member receives (n-1)/n of it. The simulation adds the latency of each
// hop. Without wraparound the members at the ends lack one direction, which doubles the time.
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "tests/collectives/carriers/checks.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {
namespace {

/// Bytes/s of one link in one direction, v4p and v5e.
constexpr double kOneWay = 4.5e10;
constexpr double kBothWays = 2 * kOneWay;
constexpr std::int64_t kHop = 1'000'000;  ///< ps: 1 us

/// Returns the time of the bytes on one link, in whole picoseconds.
std::int64_t link(double bytes) {
    return static_cast<std::int64_t>(std::ceil(bytes / kOneWay * 1e12));
}

struct Term {
    const char* what;
    std::int64_t ps;
};

std::int64_t sum(const std::vector<Term>& terms) {
    return std::accumulate(terms.begin(), terms.end(), std::int64_t{0},
                           [](std::int64_t total, const Term& term) { return total + term.ps; });
}

struct Worked {
    sim::Time simulated;
    std::optional<sim::Time> analytic;
    sim::Seconds book;
};

Worked run(const char* chip, const topology::Point& shape, Operation operation, unsigned axes,
           double v, sim::LatencyRule rule = sim::LatencyRule::additive) {
    Case c = on_chip(chip, shape, operation, axes, v);
    c.link.rule = rule;
    c.algorithm = picked(c);
    const sim::Time simulated = run_on(folded(c), c).result.end;
    EXPECT_EQ(simulated, run_on(c.slice, c).result.end);
    return {simulated, closed_form(c.call(), c.options, c.link),
            book_time(c.call(), c.link.rate, c.link.latency)};
}

/// popquiz-allgather-v5e gathers bf16[2048, 8192] over
/// Y = 4 of a v5e 8x4. An axis of 4 does not wrap.
TEST(WorkedTest, PopQuizAllGatherOnV5e) {
    const double v = 2.0 * 2048 * 8192;
    const Worked result = run("v5e", {8, 4, 1}, Operation::all_gather, 2, v);
    // The last link passes on three blocks of 8 MiB without a pause, each two messages at the cap
    // of 4 MiB: a second message comes before the first has gone.
    const std::vector<Term> terms{
        {"three blocks of two messages at the one-way rate", 6 * link(v / 8)},
        {"the hop of the last message; the others are hidden", kHop},
    };
    EXPECT_EQ(result.simulated.ps, sum(terms));
    EXPECT_EQ(result.analytic, result.simulated);

    // The book's form gives the same: V/W x (n-1)/n, x 2 without wraparound, + 1 us.
    const double ring = v / kBothWays;
    EXPECT_NEAR(result.simulated.seconds(), ring * 3 / 4 * 2 + 1e-6, 6e-12);
    // The book takes V as 34e6 and prints 377 us for a ring, 560 us without wraparound.
    EXPECT_NEAR(34e6 / kBothWays, 377e-6, 1e-6);
    EXPECT_NEAR(v, 34e6, 0.5e6);
    EXPECT_NEAR(result.book.value(), 560e-6, 1e-6);
    EXPECT_NEAR(result.simulated.seconds(), 560e-6, 1e-6);
}

/// popquiz-allgather-tiny does the same for bf16[256, 256]: three hops of 1 us.
TEST(WorkedTest, PopQuizAllGatherTiny) {
    const double v = 2.0 * 256 * 256;
    const Worked additive = run("v5e", {8, 4, 1}, Operation::all_gather, 2, v);
    EXPECT_EQ(additive.simulated.ps,
              sum({{"three blocks of 32 KiB, one after the other", 3 * link(v / 4)},
                   {"three hops", 3 * kHop}}));
    EXPECT_NEAR(additive.simulated.seconds(), v / kBothWays * 3 / 4 * 2 + 3e-6, 3e-12);

    // The book lets latency and bandwidth overlap, which is the rule `floor`: 3 us.
    const Worked floor =
        run("v5e", {8, 4, 1}, Operation::all_gather, 2, v, sim::LatencyRule::floor);
    EXPECT_EQ(floor.simulated.ps,
              sum({{"three hops, longer than their 0.73 us of bytes", 3 * kHop}}));
    EXPECT_NEAR(floor.simulated.seconds(), 3e-6, 0.1 * 3e-6);
    EXPECT_NEAR(floor.book.value(), 3e-6, 0.1 * 3e-6);
}

constexpr topology::Point kCube{4, 4, 4};
constexpr double kArray = 2.0 * 1024 * 4096;  ///< bf16[B = 1024, D = 4096]

/// ex3.2-allgather-x gathers [B_X, D_Y] over X. Each group of 4 ends with B x D/4: V is a quarter.
TEST(WorkedTest, AllGatherOverX) {
    const double v = kArray / 4;
    const Worked result = run("v4p", kCube, Operation::all_gather, 1, v);
    EXPECT_EQ(result.simulated.ps, sum({{"the neighbour's block", link(v / 4)},
                                        {"its hop", kHop},
                                        {"half of the opposite chip's block", link(v / 8)},
                                        {"its hop", kHop}}));
    // 1 + 1/2 blocks in one direction are (n-1)/n V in both.
    EXPECT_NEAR(result.simulated.seconds(), v / kBothWays * 3 / 4 + 2e-6, 2e-12);
    EXPECT_DOUBLE_EQ(result.book.value(), v / kBothWays);
    EXPECT_NEAR(result.book.value(), 23e-6, 0.5e-6);
}

/// ex3.2-allgather-xy gathers the same array over both axes: V is all of it, and two axes share it.
TEST(WorkedTest, AllGatherOverXAndY) {
    const double v = kArray;
    const Worked result = run("v4p", kCube, Operation::all_gather, 3, v);
    // Half of the array goes x first, half y first, each in chunks of 1, 2, 4, 8 and 8 units. By
    // symmetry every link carries the same: for each chunk that starts on its axis a block and half
    // a block, for each chunk of the other half four times that. The first chunk is there before
    // the first phases end.
    const double unit = v / 16 / 2 / 23;
    std::int64_t first = 0;
    std::int64_t second = 0;
    for (const double b : {unit, 2 * unit, 4 * unit, 8 * unit, 8 * unit}) {
        first += link(b) + link(b / 2);
        second += link(4 * b) + link(2 * b);
    }
    EXPECT_EQ(result.simulated.ps,
              sum({{"first phases: a block and the opposite chip's half", first},
                   {"second phases: the same of four blocks", second},
                   {"the hop of the last message", kHop}}));
    EXPECT_NEAR(result.simulated.seconds(), v / (2 * kBothWays) * 15 / 16 + 1e-6, 25e-12);
    EXPECT_DOUBLE_EQ(result.book.value(), v / (2 * kBothWays));
    EXPECT_NEAR(result.book.value(), 46e-6, 1e-6);  // 46.6, printed as 46
}

/// ex3.2-allreduce-z is [B_X, D_Y] {U_Z}: every group reduces its shard, a sixteenth of the array.
TEST(WorkedTest, AllReduceOverZ) {
    const double v = kArray / 16;
    const Worked result = run("v4p", kCube, Operation::all_reduce, 4, v);
    EXPECT_EQ(result.simulated.ps,
              sum({{"ReduceScatter: half of the opposite chip's sum", link(v / 8)},
                   {"its hop", kHop},
                   {"the neighbour's sum", link(v / 4)},
                   {"its hop", kHop},
                   {"AllGather: the neighbour's block", link(v / 4)},
                   {"its hop", kHop},
                   {"half of the opposite chip's block", link(v / 8)},
                   {"its hop", kHop}}));
    EXPECT_NEAR(result.simulated.seconds(), 2 * v / kBothWays * 3 / 4 + 4e-6, 4e-12);
    EXPECT_DOUBLE_EQ(result.book.value(), 2 * v / kBothWays);
    EXPECT_NEAR(result.book.value(), 11.6e-6, 0.05e-6 + 1e-9);  // 11.65, printed as 11.6
}

/// ex3.3-latency gathers 128 bf16 values over X = 4: two hops in either direction.
TEST(WorkedTest, LatencyBoundAllGather) {
    const double v = 256;
    const Worked result = run("v4p", kCube, Operation::all_gather, 1, v);
    EXPECT_EQ(result.simulated.ps,
              sum({{"64 bytes", link(64)}, {"and 32", link(32)}, {"two hops", 2 * kHop}}));
    EXPECT_NEAR(result.simulated.seconds(), v / kBothWays * 3 / 4 + 2e-6, 2e-12);
    EXPECT_DOUBLE_EQ(result.book.value(), 2e-6);
    const Worked floor = run("v4p", kCube, Operation::all_gather, 1, v, sim::LatencyRule::floor);
    EXPECT_EQ(floor.simulated.ps, 2 * kHop);
}

}  // namespace
}  // namespace podsim::collectives
