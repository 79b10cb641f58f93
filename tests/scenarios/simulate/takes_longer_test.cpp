// A run ends early once its step certainly takes longer than the limit, and never otherwise.
#include <algorithm>
#include <gtest/gtest.h>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/search/plan_work.h"
#include "scenarios/src/simulate/run_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/checkout.h"

namespace podsim::scenarios {
namespace {

class CountsPlayed : public Watch {
public:
    std::uint64_t played = 0;

private:
    void hear(const PhaseProgress& progress) override {
        played = std::max(played, progress.played_events);
    }
};

Scenario step_with(const char* mesh) {
    const std::vector<std::string> settings{"hardware.slice=8x8x8", "batch.tokens=2Mi",
                                            std::string("mesh=") + mesh};
    return load_scenario(source_folder() + "/scenarios/quickstart/llama3-70b-v5p-pod.yaml",
                         settings);
}

// Weights gathered beside the compute; collectives that block it, half of the step; ring steps,
// whose transfers are reported too.
TEST(TakesLonger, IsNeverSaidOfWhatDoesNot) {
    for (const char* const mesh :
         {"{fsdp: x y z}", "{fsdp: x y, tensor: z}", "{fsdp: x%2 y z, tensor: x/2}"}) {
        SCOPED_TRACE(mesh);
        const Scenario scenario = step_with(mesh);
        const StepResult step = simulate_step(scenario, Fold::automatic, {.explain = false});
        const StepResult again =
            simulate_step(scenario, Fold::automatic, {.explain = false, .longest = step.step_time});
        EXPECT_EQ(again.step_time, step.step_time);
        EXPECT_EQ(again.played_events, step.played_events);
        int ended = 0;
        for (int tenths = 1; tenths <= 10; ++tenths) {
            const sim::Time longest{step.step_time.ps * tenths / 10 - 1};
            try {
                const StepResult whole = simulate_step(scenario, Fold::automatic,
                                                       {.explain = false, .longest = longest});
                EXPECT_EQ(whole.step_time, step.step_time);
                EXPECT_EQ(tenths, 10) << "said only when there is nothing left to compute";
            } catch (const TakesLonger& longer) {
                EXPECT_GT(longer.at_least(), longest);
                EXPECT_LE(longer.at_least(), step.step_time);
                ++ended;
            }
        }
        EXPECT_GE(ended, 9);
    }
}

// The longest path behind an operation counts too. It includes collectives that block the compute,
// which the remaining work alone omits.
TEST(TakesLonger, IsSaidSoonerWhereTimesLeftAreKnown) {
    const Scenario scenario = step_with("{fsdp: x y, tensor: z}");
    const sim::Time step = simulate_step(scenario, Fold::automatic, {.explain = false}).step_time;
    const auto left = [&](const workloads::StepPrograms& programs) {
        KnownBounds known;
        return times_left(scenario, programs, known);
    };
    EXPECT_EQ(simulate_step(scenario, Fold::automatic,
                            {.explain = false, .longest = step, .times_left = left})
                  .step_time,
              step);
    const auto played_until_sure = [&](bool knows_left) {
        StepOptions options{.reuse = false, .explain = false, .longest = {step.ps * 9 / 10}};
        if (knows_left) {
            options.times_left = left;
        }
        CountsPlayed watch;
        options.watch = &watch;
        EXPECT_THROW(simulate_step(scenario, Fold::automatic, options), TakesLonger);
        return watch.played;
    };
    EXPECT_LT(2 * played_until_sure(true), played_until_sure(false));
}

// Pairs half a ring apart put eight times as much on each link as neighbours do. The load of the
// links is fixed before the first event.
TEST(TakesLonger, IsSaidAtOnceWhereLinksHaveTooMuchToCarry) {
    const Scenario scenario = step_with("{fsdp: x%4 y z, tensor: x/4}");
    const StepResult step = simulate_step(scenario, Fold::automatic, {.explain = false});
    double busiest = 0;
    for (const LinkUse& link : step.links) {
        busiest =
            link.name.starts_with("ici") ? std::max(busiest, link.busiest_bytes.value()) : busiest;
    }
    // A link reaches at most 90 GB/s, and less under the profile.
    const sim::Time at_least{static_cast<std::int64_t>(busiest / 90e9 * 1e12)};
    CountsPlayed watch;
    EXPECT_THROW(
        simulate_step(scenario, Fold::automatic,
                      {.explain = false, .watch = &watch, .longest = {at_least.ps * 99 / 100}}),
        TakesLonger);
    EXPECT_EQ(watch.played, 0U);
}

}  // namespace
}  // namespace podsim::scenarios
