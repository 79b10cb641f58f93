// A folded run equals the run of the whole slice: the same times to the picosecond, the same use of
// every link, and a count of events that lacks only the copies.
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/collectives/carriers/checks.h"
#include "tests/collectives/carriers/collective_support.h"
#include "topology/mesh/fold.h"

namespace podsim::collectives {
namespace {

TEST(FoldTest, RandomCasesAreEqualToThePicosecond) {
    int really_folded = 0;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        Random random(seed);
        const Case c = random_case(random, 12, 96);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(c));
        expect_fold_is_equal(c);
        ASSERT_FALSE(HasFailure());
        really_folded += folded(c).size() < c.slice.size() ? 1 : 0;
    }
    EXPECT_GT(really_folded, 150);
}

/// A ring of 6 beside a line of 4 folds to the line alone. Strided and block groups of the same
/// slice keep the chips that they need.
TEST(FoldTest, KnownFolds) {
    Case c;
    c.slice = box({6, 4, 1}, 1);
    c.v = sim::Bytes(1e6);
    c.link = {.rate = sim::BytesPerSecond(1e11), .latency = sim::Seconds(1e-6)};
    c.group = whole_axes(c.slice);
    EXPECT_EQ(folded(c).size(), 4);
    expect_fold_is_equal(c);
    c.group = {{0, 1, 3}};  // x%3
    EXPECT_EQ(folded(c).size(), 3);
    expect_fold_is_equal(c);
    c.group = {{0, 3, 2}};  // x/3
    EXPECT_EQ(folded(c).size(), 1);
    expect_fold_is_equal(c);
}

/// The unfolded run depends on every link: if the rate
/// of any one link in use is halved, the end moves.
TEST(FoldTest, OneSlowedLinkChangesTheUnfoldedRun) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Random random(seed);
        Case c;
        c.slice = random_slice(random, 6, 36);
        c.slice.wrapped = {true, true, true};
        c.group = whole_axes(c.slice);
        c.operation = random.pick(gathering_operations());
        c.v = sim::Bytes(1e7);
        c.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-6)};
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(c));
        const Outcome even = run_on(c.slice, c);
        EXPECT_EQ(even.result.end.ps, run_on(folded(c), c).result.end.ps);

        std::vector<std::size_t> used;
        for (std::size_t server = 0; server < even.result.links.size(); ++server) {
            if (even.result.links[server].busy.ps > 0) {
                used.push_back(server);
            }
        }
        ASSERT_FALSE(used.empty());
        const std::size_t slowed = random.pick(used);
        const Outcome slow =
            run_on(c.slice, c, [&](const CollectiveSchedule&, sim::Workload& workload) {
                sim::BytesPerSecond& rate = workload.machine.links[slowed].rate;
                rate = rate / 2.0;
                return nullptr;
            });
        EXPECT_GT(slow.result.end.ps, even.result.end.ps) << "link " << slowed;
        EXPECT_NE(slow.result.links[slowed].busy.ps, even.result.links[slowed].busy.ps);
    }
}

}  // namespace
}  // namespace podsim::collectives
