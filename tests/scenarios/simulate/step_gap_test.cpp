// The terms between a step and its bound that are read off runs; ledger_test.cpp tests the shares
// of shortfalls.
#include "scenarios/src/simulate/step_gap.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/stream_account.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/bounds/compute_time.h"
#include "workloads/bounds/roofline.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using Terms = std::map<std::string, std::int64_t>;

Terms terms_of(const std::vector<Share>& gap) {
    Terms terms;
    for (const Share& share : gap) {
        EXPECT_TRUE(terms.emplace(share.name, share.time.ps).second) << share.name;
    }
    return terms;
}

/// Returns a step that reduces gradients over data while it gathers weights over fsdp: several
/// collectives compete for the links. Compute is the bound.
Scenario crowded(int layers = 4) {
    Scenario scenario = samples::make_scenario("v5p", {4, 4, 4}, samples::small_model(layers),
                                               {{"fsdp", "x y"}, {"data", "z"}}, 64, 4096);
    scenario.hardware.chip.collective_launch.value = sim::Seconds(3e-6);
    topology::Efficiency& efficiency = scenario.hardware.efficiency;
    efficiency.mxu = 0.5;
    efficiency.ici = 0.75;
    efficiency.launch_s = 2e-6;
    return scenario;
}

// Contention is the time that the step saves if each collective has links of its own, on the
// machine without shortfalls.
TEST(StepGap, ContentionIsReadOffTheSoundMachine) {
    const Scenario scenario = crowded();
    const TrainingStep& step = scenario.step();
    const workloads::StepPrograms programs = workloads::build_stages(step.model, step.plan);
    const workloads::LowerBound lower = workloads::roofline_lower(
        programs, scenario.hardware.slice, step.mesh, ideal_rates(scenario.hardware));
    ASSERT_GT(lower.compute, lower.links);
    const LoweredStep lowered =
        lower_step(programs, AchievedHardware(scenario.hardware), step.mesh, Fold::automatic);
    StepGap gap(scenario, programs, lowered, lower, StepGap::Options{});
    const StepRun run = run_step(lowered);
    const StepGap::Terms terms = gap.terms(run);
    IdealHardware sound = scenario.hardware;
    sound.efficiency = {};
    sound.hbm = HbmRule::separate;
    sound.chip.collective_launch.value = sim::Seconds(0);
    sim::Workload workload =
        lower_step(programs, AchievedHardware(sound), step.mesh, Fold::automatic).workload;
    for (sim::LinkSpec& link : workload.machine.links) {
        link.latency = {};
    }
    const sim::Time shared = sim::execute(workload, nullptr, false).end;
    workload.machine.isolated_operations = true;
    const sim::Time isolated = sim::execute(workload, nullptr, false).end;
    const auto contention = std::ranges::find(terms.gap, "contention", &Share::name);
    ASSERT_NE(contention, terms.gap.end());
    EXPECT_GT(contention->time.ps, 0);
    EXPECT_EQ(contention->time, shared - isolated);
    EXPECT_EQ(samples::sum(terms.gap).ps, run.result.end.ps - sim::round_down(lower.time).ps);
}

// Long runs are few: one removes kernels, one links, and one all other causes together.
TEST(StepGap, MergesCausesWhereRunsAreLong) {
    const Scenario scenario = crowded();
    const StepResult result = simulate_step(scenario, Fold::automatic);
    EXPECT_EQ(result.ledger.size(), 5U);
    const workloads::StepPrograms& programs = *result.reported_chip.programs;
    const LoweredStep lowered = lower_step(programs, AchievedHardware(scenario.hardware),
                                           scenario.step().mesh, Fold::automatic);
    StepGap gap(scenario, programs, lowered, result.lower, {.played = kMostPlayedByLedger});
    const StepGap::Terms terms = gap.terms(run_step(lowered));
    ASSERT_EQ(terms.ledger.size(), 3U);
    EXPECT_EQ(terms.ledger[0].name, "kernels below peak");
    EXPECT_EQ(terms.ledger[1].name, "links below their rate");
    EXPECT_EQ(terms.ledger[2].name, "launch and latency and HBM shared with collectives");
    EXPECT_EQ(terms.ledger[0].alone, result.ledger[0].alone);
    EXPECT_EQ(samples::sum(terms.gap), samples::sum(result.gap));
}

/// On one chip the rest above the bound is read off each operation's own times.
TEST(StepGap, OfOneChipIsItsPaddingAndWhatItsResourcesTakeBeyondEachOther) {
    for (const double hbm : {1e15, 1e11}) {
        Scenario scenario =
            samples::make_scenario("v5e", {1, 1, 1}, samples::small_model(2), {}, 2, 300);
        scenario.hardware.chip.hbm_bandwidth.value = sim::BytesPerSecond(hbm);
        const StepResult result = simulate_step(scenario, Fold::automatic);
        const auto program = workloads::build_step(scenario.step().model, scenario.step().plan);
        const workloads::MachineRates rates = ideal_rates(scenario.hardware);
        std::int64_t mxu = 0;
        std::int64_t padded = 0;
        std::int64_t both = 0;
        std::int64_t all = 0;
        std::int64_t bytes = 0;
        std::int64_t padded_or_bytes = 0;
        for (const workloads::Op& op : program.ops) {
            const auto time = workloads::compute_time(std::get<workloads::Compute>(op.work), rates);
            const auto up = [](sim::Seconds seconds) { return sim::round_up(seconds).ps; };
            mxu += up(time.mxu);
            padded += up(time.mxu_padded);
            bytes += up(time.hbm);
            both += std::max(up(time.mxu_padded), up(time.hbm));
            all += std::max({up(time.mxu_padded), up(time.hbm), up(time.vpu)});
            padded_or_bytes += std::max(up(time.mxu_padded), up(time.hbm)) - up(time.hbm);
        }
        Terms terms = terms_of(result.gap);
        if (hbm > 1e12) {
            ASSERT_EQ(result.lower.bound, "compute");
            EXPECT_EQ(terms["padding"], padded - mxu);
            EXPECT_EQ(terms["HBM"], both - padded);
        } else {
            ASSERT_EQ(result.lower.bound, "hbm");
            EXPECT_EQ(terms["MXU beyond HBM"], padded_or_bytes);
            EXPECT_EQ(terms["rounding"], bytes - sim::round_down(result.lower.time).ps);
        }
        EXPECT_EQ(terms["VPU"], all - both);
        EXPECT_EQ(result.step_time.ps, all);
    }
}

/// Each run without a cause plays this step's 12,000 events. A limit below them names the
/// first cause.
TEST(StepGapTest, IsLeftOutWhereARunWouldPlayTooMuch) {
    const Scenario scenario = crowded(120);
    const StepResult whole = simulate_step(scenario, Fold::automatic, {.reuse = false});
    ASSERT_TRUE(whole.explained);
    ASSERT_GT(whole.played_events, 8192U);
    const StepResult limited =
        simulate_step(scenario, Fold::automatic, {.reuse = false, .most_played_by_a_run = 4096});
    EXPECT_FALSE(limited.explained);
    EXPECT_FALSE(limited.explaining_stopped);
    EXPECT_EQ(limited.explaining_exceeded, "kernels below peak");
    EXPECT_TRUE(limited.gap.empty());
    EXPECT_TRUE(limited.critical_path.empty());
    EXPECT_EQ(limited.step_time, whole.step_time);
}

TEST(StepGapTest, RunsMayPlaySixteenTimesTheStepOrFourMillionEvents) {
    EXPECT_EQ(most_played_to_explain(100), 4'000'000U);
    EXPECT_EQ(most_played_to_explain(250'000), 4'000'000U);
    EXPECT_EQ(most_played_to_explain(250'001), 4'000'016U);
}

}  // namespace
}  // namespace podsim::scenarios
