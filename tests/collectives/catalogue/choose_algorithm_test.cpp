// `auto` against running every candidate: it takes the
// fastest, and simulates no candidate that cannot be.
#include "collectives/catalogue/choose_algorithm.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

#include "collectives/algorithms/messages.h"
#include "tests/collectives/carriers/checks.h"

namespace podsim::collectives {
namespace {

sim::Time time_of(Case c, Algorithm algorithm) {
    c.algorithm = algorithm;
    return run_on(folded(c), c).result.end;
}

TEST(ChooseTest, TakesTheFastestAndTheFirstOfEquals) {
    int without_all = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        Random random(seed);
        Case c = random_case(random, 6, 24);
        c.v = std::min(c.v, sim::Bytes(1e6));
        SCOPED_TRACE(describe(c));
        const std::vector<Algorithm> list = info(c.operation).candidates(c.call());
        Algorithm fastest = list.front();
        for (const Algorithm algorithm : list) {
            const sim::Time time = time_of(c, algorithm);
            Case by_algorithm = c;
            by_algorithm.algorithm = algorithm;
            EXPECT_LE(lower_bound(by_algorithm.call(), c.link), time);
            fastest = time < time_of(c, fastest) ? algorithm : fastest;
        }
        std::vector<Algorithm> simulated;
        const Algorithm chosen = choose(c.call(), c.options, c.link, [&](Algorithm algorithm) {
            simulated.push_back(algorithm);
            return time_of(c, algorithm);
        });
        EXPECT_EQ(to_string(chosen), to_string(fastest));
        without_all += list.size() > 1 && simulated.size() < list.size() ? 1 : 0;
        ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(without_all, 20);
}

/// A candidate that surely beats all others is taken without a run. 1 GB goes over three axes; two
/// groups share the links of x, which get too many bytes in equal parts.
TEST(ChooseTest, TakesUnseenWhatIsSurelyTheFastest) {
    Case c;
    c.slice = box({16, 20, 28}, 7);
    c.group = {{0, 2, 8}, {1, 1, 20}, {2, 1, 28}};
    c.v = sim::Bytes(1e9);
    c.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-6)};
    for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter}) {
        c.operation = operation;
        const Algorithm chosen = choose(c.call(), c.options, c.link, [](Algorithm) -> sim::Time {
            throw std::logic_error("is run");
        });
        EXPECT_EQ(chosen, Algorithm::weighted);
        for (const Algorithm other : info(operation).candidates(c.call())) {
            EXPECT_GE(time_of(c, other), time_of(c, chosen));
        }
    }
}

/// A ring of 8 has 1e9 B/s and 10 us. One shot takes 4 hops; 1000 B take 1 us, half of them 0.5 us:
/// 3 x 11 + 10.5 us. ReduceScatter and AllGather take 8 hops. For 8 MB a link carries 3.5 arrays in
/// one shot, against 2 x 7/16.
TEST(ChooseTest, ByHand) {
    Case c;
    c.operation = Operation::all_reduce;
    c.slice = box({8, 1, 1}, 1);
    c.group = whole_axes(c.slice);
    c.link = {.rate = sim::BytesPerSecond(1e9), .latency = sim::Seconds(1e-5)};
    const auto pick = [&](double bytes) {
        c.v = sim::Bytes(bytes);
        return choose(c.call(), c.options, c.link,
                      [](Algorithm) -> sim::Time { throw std::logic_error("has a closed form"); });
    };
    EXPECT_EQ(pick(1000), Algorithm::one_shot);
    EXPECT_EQ(pick(8e6), Algorithm::two_way);
    c.v = sim::Bytes(1000);
    EXPECT_EQ(time_of(c, Algorithm::one_shot).ps, 3 * 11'000'000 + 10'500'000);
}

/// A candidate that would be cut into too many messages
/// is left out. If all are, the error is passed on.
TEST(ChooseTest, LeavesOutWhatCannotBeBuilt) {
    const topology::Lattice slice = box({4, 4, 1}, 0);
    const LinkModel link{.rate = sim::BytesPerSecond(1e10), .latency = sim::Seconds(1e-6)};
    const auto pick = [&](bool any) {
        return choose({.operation = Operation::all_reduce,
                       .slice = slice,
                       .members = {whole_axes(slice)},
                       .bytes = sim::Bytes(1e9)},
                      {}, link, [&](Algorithm algorithm) -> sim::Time {
                          if (!any || algorithm == Algorithm::reduce_broadcast) {
                              throw TooManyMessages();
                          }
                          return {algorithm == Algorithm::equal_parts ? 1'000'000'000'000
                                                                      : 2'000'000'000'000};
                      });
    };
    EXPECT_EQ(pick(true), Algorithm::equal_parts);
    EXPECT_THROW(pick(false), TooManyMessages);
}

}  // namespace
}  // namespace podsim::collectives
