// Work of the compute stream while the busiest link is idle, in steps bound by links.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/stream_account.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using samples::small_model;

sim::Time term(const std::vector<Share>& shares, const std::string& name) {
    const auto found = std::ranges::find(shares, name, &Share::name);
    return found == shares.end() ? sim::Time{} : found->time;
}

TEST(IdleLinks, AreSplitByWhatTheStreamDoes) {
    const std::vector<Interval> held{{sim::Time{2}, sim::Time{5}}, {sim::Time{7}, sim::Time{9}}};
    const std::vector<Stretch> stream{{sim::Time{0}, sim::Time{4}, "forward", true},
                                      {sim::Time{4}, sim::Time{8}, "AllGather", false},
                                      {sim::Time{8}, sim::Time{9}, "backward", true},
                                      {sim::Time{9}, sim::Time{10}, "forward", true}};
    // The link is held in [2, 5) and [7, 9). It is idle in [0, 2) and [9, 10), under `forward`, and
    // in [5, 7).
    const std::vector<Share> idle = idle_by_cause(held, stream);
    ASSERT_EQ(idle.size(), 2U);
    EXPECT_EQ(idle[0].name, "forward");
    EXPECT_EQ(idle[0].time.ps, 3);
    EXPECT_EQ(idle[1].name, "exposed AllGather");
    EXPECT_EQ(idle[1].time.ps, 2);
}

/// Blocking tensor collectives run while nothing is computed, and x carries nothing else: its links
/// are idle during every pass. They are rings of equal messages, so without latency all are held
/// from the first hop to the last, unless messages of gradients slow down a pass.
TEST(IdleLinks, RestForAllOfWhatBlockingCollectivesWaitFor) {
    Scenario scenario = make_scenario("v5p", {4, 4, 4}, small_model(6),
                                      {{"data", "y z"}, {"tensor", "x"}}, 64, 512);
    scenario.hardware.hbm = HbmRule::separate;
    for (const bool reuse : {true, false}) {
        for (const Fold fold : {Fold::automatic, Fold::off}) {
            const StepResult result = simulate_step(scenario, fold, {.reuse = reuse});
            ASSERT_TRUE(result.lower.links >
                        std::max({result.lower.compute, result.lower.hbm, result.lower.vpu}));
            for (const Share& pass : result.breakdown) {
                EXPECT_EQ(term(result.gap, "idle links: " + pass.name), pass.time) << pass.name;
            }
            EXPECT_EQ(term(result.gap, "idle links: exposed AllGather over tensor (tensor)").ps, 0);
            EXPECT_EQ(samples::sum(result.gap).ps,
                      result.step_time.ps - sim::round_down(result.lower.time).ps);
        }
    }
}

}  // namespace
}  // namespace podsim::scenarios
