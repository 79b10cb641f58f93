// The rates of a step's result, from its time and what it is to compute.
#include <gtest/gtest.h>

#include "scenarios/spec/training_step.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/analytic/step_flops.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

Scenario small() {
    return testing::make_scenario("v5p", {4, 4, 4}, testing::small_model(4),
                                  {{"fsdp", "x y z"}, {"data", "slice"}}, 64, 1024, 2);
}

// Tokens a second, and FLOPs by the rule that the scenario names, against the peak of all chips of all slices.
TEST(StepRates, AreTokensAndFlopsOverTheStep) {
    for (const workloads::FlopRule rule :
         {workloads::FlopRule::executed, workloads::FlopRule::parameters,
          workloads::FlopRule::full_attention}) {
        for (const workloads::MatmulDtype dtype :
             {workloads::MatmulDtype::bf16, workloads::MatmulDtype::int8}) {
            Scenario scenario = small();
            scenario.hardware.efficiency.mxu = 0.5;  // the peak is the ideal one
            scenario.step().report.flop_rule = rule;
            scenario.step().plan.precision.matmul = dtype;
            const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
            const TrainingStep& step = scenario.step();
            const workloads::StepPrograms programs = workloads::build_stages(step.model, step.plan);
            const workloads::StepFlops flops = workloads::step_flops(
                step.model, step.plan, workloads::mean_recomputed(step.model, step.plan, programs),
                rule);
            const double peak =
                (dtype == workloads::MatmulDtype::bf16 ? scenario.hardware.chip.bf16_flops.value
                                                       : scenario.hardware.chip.int8_ops.value)
                    .value() *
                128;
            const double seconds = result.step_time.seconds();
            EXPECT_EQ(result.chips, 128);
            EXPECT_DOUBLE_EQ(result.tokens_per_s, 65536 / seconds);
            EXPECT_DOUBLE_EQ(result.mfu, flops.model.value() / peak / seconds);
            EXPECT_DOUBLE_EQ(result.hfu, flops.hardware.value() / peak / seconds);
        }
    }
}

// A block of evaluation steps and training steps, one after the other; the evaluation step is its own scenario.
TEST(StepRates, OfABlockAreItsSteps) {
    Scenario scenario = small();
    scenario.step().evaluation = Evaluation{.tokens = 131072, .steps = 5, .train_steps = 3};
    const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    Scenario alone = small();
    alone.step().plan.forward_only = true;
    alone.step().plan.batch.tokens = 131072;
    EXPECT_EQ(result.evaluation,
              simulate_step(alone, Fold::automatic, {.explain = false}).step_time);
    EXPECT_EQ(result.block, result.step_time * 3 + result.evaluation * 5);
    const StepResult without = simulate_step(small(), Fold::automatic, {.explain = false});
    EXPECT_EQ(without.step_time, result.step_time);
    EXPECT_EQ(without.evaluation, sim::Time{});
    EXPECT_EQ(without.block, sim::Time{});
}

// Estimates are of the ideal machine: no profile changes them.
TEST(StepRates, EstimatesDoNotDependOnTheProfile) {
    Scenario scenario = small();
    const StepResult ideal = simulate_step(scenario, Fold::automatic, {.explain = false});
    topology::Efficiency& reached = scenario.hardware.efficiency;
    reached.mxu = reached.hbm = reached.ici = reached.dcn = reached.vpu = 0.5;
    reached.straggler = 0.25;
    reached.launch_s = 1e-5;
    const StepResult measured = simulate_step(scenario, Fold::automatic, {.explain = false});
    EXPECT_GT(measured.step_time, ideal.step_time);
    EXPECT_EQ(measured.lower.time, ideal.lower.time);
    EXPECT_EQ(measured.lower.bound, ideal.lower.bound);
    EXPECT_EQ(measured.serial, ideal.serial);
    EXPECT_EQ(measured.book, ideal.book);
    EXPECT_TRUE(measured.gap.empty());
    EXPECT_TRUE(measured.critical_path.empty());
}

TEST(StepRates, OfACollectiveSayWhatItWaitsFor) {
    CollectiveResult result;
    const auto regime = [&](std::int64_t launch, std::int64_t latency) {
        result.simulated = {1000};
        result.parts = {{launch}, {latency}, {1000 - launch - latency}};
        return result.regime();
    };
    EXPECT_EQ(regime(250, 250), Regime::latency_bound);
    EXPECT_EQ(regime(250, 249), Regime::between);
    EXPECT_EQ(regime(50, 50), Regime::between);
    EXPECT_EQ(regime(50, 49), Regime::bandwidth_bound);
    EXPECT_EQ(to_string(Regime::latency_bound), "latency-bound");
    EXPECT_EQ(to_string(Regime::between), "in between");
    EXPECT_EQ(to_string(Regime::bandwidth_bound), "bandwidth-bound");
}

// A collective under a profile runs at the rates that are reached, and is held to the ideal ones.
TEST(StepRates, OfACollectiveAreReachedAndItsBoundsIdeal) {
    CollectiveRequest request;
    request.hardware = small().hardware;
    request.operation = collectives::Operation::all_gather;
    request.members = {{{0, 1, 4}}, {}};
    request.bytes = sim::Bytes(64e6);
    request.algorithm = collectives::Algorithm::two_way;
    const CollectiveResult ideal = simulate_collective(request, Fold::automatic);
    request.hardware.efficiency.ici = 0.5;
    const CollectiveResult half = simulate_collective(request, Fold::automatic);
    EXPECT_EQ(half.physical_bound, ideal.physical_bound);
    EXPECT_EQ(half.book, ideal.book);
    // How the array is cut into messages may follow the rate.
    EXPECT_NEAR(half.parts.bandwidth.seconds() / ideal.parts.bandwidth.seconds(), 2, 0.02);
    EXPECT_EQ(testing::sum(half.gap).ps,
              half.simulated.ps - sim::round_down(half.physical_bound).ps);
    ASSERT_EQ(ideal.gap.size(), 4U);
    ASSERT_EQ(half.gap.size(), 5U);
    EXPECT_EQ(half.gap[4].name, "links below their rate");
    EXPECT_NEAR(half.gap[4].time.seconds() / ideal.physical_bound.value(), 1, 0.02);
    EXPECT_EQ(half.gap[2].time, ideal.gap[2].time);
}

}  // namespace
}  // namespace podsim::scenarios
