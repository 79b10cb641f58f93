// Steps whose operations are ordered to hide latency: invariants, one step calculated by hand, and
// orders that are kept.
#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "scenarios/src/advise/what_if.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using samples::small_model;
using workloads::SchedulePolicy;

Scenario random_hiding(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Scenario scenario = samples::random_scenario(random);
    workloads::Overlap& overlap = scenario.step().plan.overlap;
    overlap.schedule = SchedulePolicy::latency_hiding;
    for (int& bound : overlap.async) {
        bound = static_cast<int>(random() % 3);
    }
    scenario.hardware.hbm = seed % 2 == 0 ? HbmRule::shared : HbmRule::separate;
    return scenario;
}

TEST(LatencyHidingSteps, FoldedEqualUnfoldedWithExactSumsAboveTheBound) {
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
        SCOPED_TRACE(seed);
        samples::expect_folded_equals_unfolded(random_hiding(seed));
    }
}

TEST(LatencyHidingSteps, AreTheSameWhereRepeatsArePlayed) {
    for (std::uint64_t seed = 100; seed < 130; ++seed) {
        SCOPED_TRACE(seed);
        const Scenario scenario = random_hiding(seed);
        const StepResult once = simulate_step(scenario, Fold::automatic, {.explain = false});
        const StepResult all =
            simulate_step(scenario, Fold::automatic, {.reuse = false, .explain = false});
        EXPECT_EQ(once.step_time, all.step_time);
        EXPECT_EQ(once.events, all.events);
        EXPECT_EQ(once.memory.peak, all.memory.peak);
    }
}

/// Returns a layer of a plain MLP of D = 8192 and F = 8192 over tensor 2, negligible attention, a
/// FLOP a picosecond.
Scenario one_mlp(SchedulePolicy schedule) {
    workloads::ModelSpec model = samples::two_matmuls(1, 8192);
    model.parallel_block = false;
    Scenario scenario = make_scenario("v5e", {2, 1, 1}, model, {{"tensor", "x"}}, 1, 1024);
    samples::count_flops(scenario.hardware.chip);
    // Half of the 1024 x 8192 rows in bf16 in 20 ms.
    scenario.hardware.chip.ici_one_way_book.value = sim::BytesPerSecond(8388608 / 20e-3);
    scenario.hardware.hbm = HbmRule::separate;
    workloads::TrainingPlan& plan = scenario.step().plan;
    plan.layers_only = true;
    plan.remat.policy = workloads::RematPolicy::none;
    plan.overlap.layer_loop = true;
    plan.overlap.schedule = schedule;
    return scenario;
}

// Each collective moves 8192 x 1024 x 2 / 2 bytes over one link, 20 ms. Each matmul of the MLP
// takes 2 x 1024 x 8192 x 8192 / 2 FLOPs, 68.7 ms; those of attention, of 16 columns, are
// negligible. The chain waits for all ten: four forward, and backward a gather and a scatter for
// each block and another gather for each of its weight gradients. In the other order the gradients
// of down and gate_up, 68.7 ms each, follow the chain of input gradients and hide three. The last
// scatter (and the rest of the gather of the MLP's input) is beside the first, the gather of
// attention's input beside the second. The other seven are exposed, as the next operation reads
// their results.
TEST(LatencyHidingSteps, AWeightGradientHidesAReduceScatter) {
    const StepResult chain = simulate_step(one_mlp(SchedulePolicy::chain), Fold::automatic);
    const StepResult hidden =
        simulate_step(one_mlp(SchedulePolicy::latency_hiding), Fold::automatic);
    constexpr std::int64_t kCollective = 20'000'000'000;  // ps
    EXPECT_EQ(chain.compute, hidden.compute);
    EXPECT_EQ(chain.exposed_total.ps, 10 * kCollective);
    EXPECT_EQ(hidden.exposed_total.ps, 7 * kCollective);
    samples::expect_exact_sums(hidden);
    const auto backward = [&](const std::string& name) {
        return samples::span_of(hidden, "layer 0 backward " + name);
    };
    const Span scatter = backward("scatter attention input gradient");
    const Span beside = backward("down weight gradient");
    EXPECT_EQ(scatter.start, backward("qkv input gradient").end);
    EXPECT_EQ(scatter.start, beside.start);
    EXPECT_LT(scatter.end, beside.end);
}

// A changed machine keeps the order of the original step: no operation moves. If the order is
// recomputed, a slower link leads to another one.
TEST(LatencyHidingSteps, KeepTheirOrderOnAnotherMachine) {
    const auto order_of = [](const StepResult& result) {
        std::vector<std::string> names;
        for (const Span& span : spans_of(result.reported_chip)) {
            names.push_back(span.name);
        }
        return names;
    };
    const Scenario scenario = one_mlp(SchedulePolicy::latency_hiding);
    Scenario changed = scenario;
    changed.hardware.chip.ici_one_way_book.value = sim::BytesPerSecond(8388608 / 200e-3);
    const auto order = order_of(simulate_step(scenario, Fold::automatic, {.explain = false}));
    const StepOptions kept{.explain = false, .compiled_for = &scenario.hardware};
    EXPECT_EQ(order_of(simulate_step(changed, Fold::automatic, kept)), order);
    EXPECT_NE(order_of(simulate_step(changed, Fold::automatic, {.explain = false})), order);
}

using LatencyHidingCommand = CommandTest;

TEST_F(LatencyHidingCommand, SaysWhatIsRefused) {
    const auto overlap = [](const std::string& settings) {
        return std::string(kGood) + "overlap: {" + settings + "}\n";
    };
    expect_refused(overlap("schedule: lhs"),
                   "s.yaml:5:21: unknown overlap.schedule 'lhs'; allowed: chain, latency_hiding");
    expect_refused(
        overlap("async: {all_gather: 2}"),
        "s.yaml:5:18: overlap.async: the chain has no bounds by kind of collective; use it "
        "with overlap.schedule: latency_hiding");
    expect_refused(overlap("schedule: latency_hiding, async: {permute: 2}"),
                   "s.yaml:5:45: unknown overlap.async key 'permute'; allowed: all_gather, "
                   "reduce_scatter, all_reduce, all_to_all");
    expect_refused(overlap("schedule: latency_hiding, async: {all_gather: 65}"),
                   "s.yaml:5:57: overlap.async.all_gather: '65' is out of range; allowed: 0 to 64");
    const std::string file = write(kGood, "s.yaml");
    const Outcome outcome = podsim({"run", file, "--reschedule"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err,
              "podsim run: --reschedule says how --what-if runs; write --what-if with it\n");
}

}  // namespace
}  // namespace podsim::scenarios
