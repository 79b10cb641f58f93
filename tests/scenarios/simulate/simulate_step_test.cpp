// Whole steps: bounds, exact accounts, folding and reuse.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/run_step.h"
#include "scenarios/src/simulate/step_gap.h"
#include "scenarios/src/simulate/stream_account.h"
#include "tests/scenarios/simulate/step_support.h"
#include "topology/mesh/fold.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using samples::expect_same_spans;
using samples::floor_ps;
using samples::make_scenario;
using samples::random_scenario;
using samples::small_model;
using samples::sum;

double duration_of(const StepResult& result, const std::string& name) {
    const Span span = samples::span_of(result, name);
    return (span.end - span.start).seconds();
}

Scenario fsdp_8b(std::int64_t tokens_per_chip) {
    return make_scenario("v5p", {16, 16, 16}, workloads::find_model("llama-3-8b"),
                         {{"fsdp", "x y z"}}, 4096, tokens_per_chip);
}

// LLaMA 3-8B, FSDP over 4096 chips and three axes, is compute-bound above 850 tokens a chip
// (2550 / 3). At four times that only the first gather (embedding, 1.05 GB) and the last
// ReduceScatter (its gradient) cannot hide behind compute, apart from the HBM bandwidth that
// collectives take from kernels. The rest is within 2 %: 3400 tokens are no multiple of the
// systolic array, which costs the weight gradients (their inner dimension) 1.6 %.
TEST(Tightness, ComputeBoundStepIsComputePlusFirstGatherAndLastScatter) {
    for (const std::int64_t tokens : {3400, 3456}) {
        const StepResult result = simulate_step(fsdp_8b(tokens), Fold::automatic);
        EXPECT_EQ(result.lower.bound, "compute");
        const double edges = duration_of(result, "embedding forward gather weights") +
                             duration_of(result, "embedding backward reduce-scatter gradients");
        const auto shared =
            std::ranges::find(result.gap, "HBM shared with collectives", &Share::name);
        ASSERT_NE(shared, result.gap.end());
        EXPECT_LE(result.step_time.seconds(),
                  1.02 * result.lower.time.value() + edges + shared->time.seconds());
        EXPECT_GE(result.step_time.ps, floor_ps(result.lower.time));
    }
}

// At a quarter of the turning point the links are never idle: the step is within 10 % of the bytes
// at their rate.
TEST(Tightness, CommunicationBoundStepKeepsTheLinksBusy) {
    const StepResult result = simulate_step(fsdp_8b(212), Fold::automatic);
    EXPECT_EQ(result.lower.bound, "ici x+y+z");
    EXPECT_LE(result.step_time.seconds(), 1.10 * result.lower.time.value());
    EXPECT_GE(result.step_time.ps, floor_ps(result.lower.time));
}

TEST(Step, AccountsAddUpAndNothingBeatsTheRoofline) {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const Scenario scenario = random_scenario(random);
        const StepResult result = simulate_step(scenario, Fold::automatic);
        EXPECT_GE(result.step_time.ps, floor_ps(result.lower.time));
        EXPECT_EQ(sum(result.gap).ps, result.step_time.ps - floor_ps(result.lower.time));
        EXPECT_EQ(sum(result.exposed), result.exposed_total);
        EXPECT_EQ(result.compute + result.exposed_total, result.step_time);
        EXPECT_EQ(sum(result.breakdown), result.compute);
        for (const Share& share : result.gap) {
            EXPECT_NE(share.name, "other");
        }
        for (const LinkUse& use : result.links) {
            EXPECT_LE(use.busy_fraction, 1.0);
        }
        double at_peak = 0;
        for (const auto& [name, bytes] : result.memory.at_peak) {
            at_peak += bytes.value();
        }
        EXPECT_DOUBLE_EQ(at_peak, result.memory.peak.value());
    }
}

// If links cost nothing and messages do not delay kernels at the HBM, the compute stream
// never waits.
TEST(Step, WithoutLatencyAndWithInfiniteBandwidthEqualsTheComputeTime) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        Scenario scenario = random_scenario(random);
        scenario.hardware.chip.ici_latency.value = sim::Seconds(0);
        scenario.hardware.chip.ici_one_way_book.value = sim::BytesPerSecond::infinity();
        scenario.hardware.chip.collective_launch.value = sim::Seconds(0);
        scenario.hardware.hbm = HbmRule::separate;
        const StepResult result = simulate_step(scenario, Fold::automatic);
        EXPECT_EQ(result.step_time, result.compute);
        EXPECT_EQ(result.exposed_total, sim::Time{});
    }
}

TEST(Step, FoldedEqualsUnfoldedToThePicosecond) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        Scenario scenario = random_scenario(random);
        scenario.hardware.hbm = seed % 2 == 0 ? HbmRule::shared : HbmRule::separate;
        const StepResult folded = simulate_step(scenario, Fold::automatic);
        const StepResult whole = simulate_step(scenario, Fold::off);
        EXPECT_EQ(whole.simulated_chips, whole.chips);
        EXPECT_EQ(whole.step_time, folded.step_time);
        EXPECT_EQ(whole.events * static_cast<std::uint64_t>(folded.simulated_chips),
                  folded.events * static_cast<std::uint64_t>(whole.simulated_chips));
        expect_same_spans(folded, whole);
        ASSERT_EQ(whole.gap.size(), folded.gap.size());
        for (std::size_t i = 0; i < whole.gap.size(); ++i) {
            EXPECT_EQ(whole.gap[i].time, folded.gap[i].time) << whole.gap[i].name;
        }
        for (std::size_t i = 0; i < whole.links.size(); ++i) {
            EXPECT_EQ(whole.links[i].busy_fraction, folded.links[i].busy_fraction);
            EXPECT_EQ(whole.links[i].bytes, folded.links[i].bytes);
        }
        EXPECT_EQ(whole.memory.peak, folded.memory.peak);
    }
}

// An unfolded run must really simulate every chip: one slower link changes it.
TEST(Step, OneSlowLinkChangesTheUnfoldedStep) {
    const Scenario scenario = make_scenario("v5p", {4, 4, 4}, small_model(2),
                                            {{"fsdp", "x y"}, {"tensor", "z"}}, 16, 1024);
    const auto program = workloads::build_step(scenario.step().model, scenario.step().plan);
    LoweredStep step =
        lower_step(program, AchievedHardware(scenario.hardware), scenario.step().mesh, Fold::off);
    const sim::Time before = run_step(step).result.end;
    step.workload.machine.links[37 * collectives::kIciPorts + 4].rate = sim::BytesPerSecond(45e9);
    EXPECT_GT(run_step(step).result.end, before);
}

// A step that is retimed without stragglers, slow kernels and launch costs differs from the
// original in its durations alone.
TEST(Step, RetimedIsWhatIsLoweredForThatHardware) {
    for (std::uint64_t seed = 100; seed < 120; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        Scenario scenario = random_scenario(random);
        scenario.hardware.hbm = seed % 2 == 0 ? HbmRule::shared : HbmRule::separate;
        const auto program = workloads::build_step(scenario.step().model, scenario.step().plan);
        IdealHardware slow = scenario.hardware;
        slow.efficiency.mxu = 0.75;
        slow.efficiency.hbm = 0.5;
        slow.efficiency.launch_s = 5e-6;
        LoweredStep step =
            lower_step(program, AchievedHardware(slow), scenario.step().mesh, Fold::automatic);
        const sim::Time slow_end = run_step(step).result.end;
        EXPECT_FALSE(retime(program, AchievedHardware(slow), step));
        EXPECT_TRUE(retime(program, AchievedHardware(scenario.hardware), step));
        const LoweredStep lowered = lower_step(program, AchievedHardware(scenario.hardware),
                                               scenario.step().mesh, Fold::automatic);
        const StepRun run = run_step(step);
        EXPECT_EQ(run.result, run_step(lowered).result);
        EXPECT_LT(run.result.end, slow_end);
        ASSERT_EQ(step.workload.schedules.size(), lowered.workload.schedules.size());
        for (std::size_t i = 0; i < lowered.workload.schedules.size(); ++i) {
            EXPECT_EQ(step.workload.schedules[i].transfers.size(),
                      lowered.workload.schedules[i].transfers.size());
        }
    }
}

// The reuse of repeated layers changes nothing: deep models, mixed settings, a growing backlog of
// reductions (latency and slow links), an odd layer count.
TEST(Reuse, EqualsTheFullRunToThePicosecond) {
    int skipped = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        Scenario scenario = random_scenario(random);
        scenario.step().model.layers = 13 + static_cast<std::int64_t>(seed % 9);
        scenario.hardware.hbm = seed % 2 == 0 ? HbmRule::shared : HbmRule::separate;
        const auto program = workloads::build_step(scenario.step().model, scenario.step().plan);
        for (const bool isolated : {false, true}) {
            LoweredStep step = lower_step(program, AchievedHardware(scenario.hardware),
                                          scenario.step().mesh, Fold::automatic);
            step.workload.machine.isolated_operations = isolated;
            const StepRun with = run_step(step);
            const StepRun without = run_step(step, {.reuse = false});
            EXPECT_EQ(with.result.end, without.result.end);
            EXPECT_EQ(with.result.end_of_place, without.result.end_of_place);
            EXPECT_EQ(with.result.events, without.result.events);
            EXPECT_EQ(with.reported().began, without.reported().began);
            EXPECT_EQ(with.reported().ended, without.reported().ended);
            for (std::size_t link = 0; link < with.result.links.size(); ++link) {
                EXPECT_EQ(with.result.links[link].busy, without.result.links[link].busy);
                EXPECT_EQ(with.result.links[link].carried_units,
                          without.result.links[link].carried_units);
            }
            skipped += with.result.played_events < with.result.events ? 1 : 0;
        }
    }
    EXPECT_GT(skipped, 40) << "the test should exercise reuse";
}

}  // namespace
}  // namespace podsim::scenarios
