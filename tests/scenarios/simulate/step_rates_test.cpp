// The rates of a step's result, from its time and its nominal work.
#include <gtest/gtest.h>

#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

Scenario small() {
    return samples::make_scenario("v5p", {4, 4, 4}, samples::small_model(4),
                                  {{"fsdp", "x y z"}, {"data", "slice"}}, 64, 1024, 2);
}

// The rates are tokens per second, and FLOPs by the scenario's rule over the peak of all chips of
// all slices.
TEST(StepRates, AreTokensAndFlopsOverTheStep) {
    for (const workloads::FlopRule rule :
         {workloads::FlopRule::executed, workloads::FlopRule::parameters,
          workloads::FlopRule::masked_attention, workloads::FlopRule::full_attention}) {
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

/// Returns the LLaMA 3-8B step closest to its peak: links, HBM and vector unit take no time.
Scenario llama_at_its_peak() {
    Scenario scenario = samples::make_scenario(
        "v5p", {4, 4, 4}, workloads::find_model("llama-3-8b"), {{"fsdp", "x y z"}}, 256, 4096);
    scenario.step().plan.remat.policy = workloads::RematPolicy::none;
    samples::leave_math_alone(scenario.hardware.chip);
    scenario.hardware.chip.ici_latency.value = sim::Seconds(0);
    scenario.hardware.chip.ici_one_way_book.value = sim::BytesPerSecond::infinity();
    return scenario;
}

// The lookup table of 128256 x 4096 is 7 % of the 7.5e9 parameters that multiply. A regression:
// counted as a matmul, it made utilisations exceed the peak.
TEST(StepRates, ALookupIsNoMatmul) {
    Scenario scenario = llama_at_its_peak();
    const double mfu = simulate_step(scenario, Fold::automatic, {.explain = false}).mfu;
    EXPECT_LE(mfu, 1);
    EXPECT_NEAR(mfu, 1, 1e-9);
    scenario.step().report.flop_rule = workloads::FlopRule::masked_attention;
    // 6 x 8030261248 against 6 x (8030261248 - 128321 x 4096), both + 6 S N H L.
    const double scores = 6.0 * 4096 * 32 * 128 * 32;
    const double all = 6 * 8030261248.0 + scores;
    EXPECT_NEAR(simulate_step(scenario, Fold::automatic, {.explain = false}).mfu,
                all / (all - 6 * 128321.0 * 4096), 1e-9);
}

/// Returns a random step in which hardly anything but its matmuls takes time.
Scenario random_math(std::mt19937_64& random) {
    const auto coin = [&] { return random() % 2 == 0; };
    Scenario scenario = samples::random_scenario(random);
    workloads::ModelSpec& model = scenario.step().model;
    model.vocabulary = coin() ? 4096 : 131072;
    model.positions = coin() ? 4096 : 0;
    model.window = coin() ? 256 : 0;
    if (coin()) {
        model.parallel_block = false;
        model.experts = {.count = 8, .per_token = 2, .shared = 1, .d_ff = 256};
    }
    workloads::TrainingPlan& plan = scenario.step().plan;
    plan.forward_only = coin() && coin();
    plan.layers_only = coin() && coin();
    if (coin()) {
        plan.batch.tokens = std::int64_t{1024} * scenario.hardware.chips();
    }
    if (coin()) {
        plan.precision.matmul = workloads::MatmulDtype::int8;
    }
    topology::ChipSpec& chip = scenario.hardware.chip;
    samples::leave_math_alone(chip);
    chip.ici_latency.value = chip.collective_launch.value = sim::Seconds(0);
    chip.ici_one_way_book.value = sim::BytesPerSecond::infinity();
    chip.int8_ops.value = chip.bf16_flops.value * (coin() ? 2.0 : 0.5);
    return scenario;
}

// At ideal rates nothing exceeds its peak, which is that of bf16 if quantised matmuls are slower.
// Times are rounded up, so only the products can exceed 1, by one unit in the last place.
TEST(StepRates, UtilisationIsAtMostOne) {
    int at_the_peak = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const Scenario scenario = random_math(random);
        const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
        EXPECT_LE(result.mfu, 1 + 1e-15);
        EXPECT_LE(result.hfu, 1 + 1e-15);
        EXPECT_LE(result.mfu, result.hfu);
        at_the_peak += result.mfu > 0.999 ? 1 : 0;
    }
    EXPECT_GT(at_the_peak, 20) << "some steps should be at their peak";
}

// A block runs evaluation steps and training steps one after the other. An evaluation step takes
// the time of a scenario of its own.
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

// Estimates describe the ideal machine: no profile changes them.
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

// Under a profile a collective runs at the reached rates, but its bounds are those of the
// ideal ones.
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
    // The division of the array into messages may depend on the rate.
    EXPECT_NEAR(half.parts.bandwidth.seconds() / ideal.parts.bandwidth.seconds(), 2, 0.02);
    EXPECT_EQ(samples::sum(half.gap).ps,
              half.simulated.ps - sim::round_down(half.physical_bound).ps);
    ASSERT_EQ(ideal.gap.size(), 4U);
    ASSERT_EQ(half.gap.size(), 5U);
    EXPECT_EQ(half.gap[4].name, "links below their rate");
    EXPECT_NEAR(half.gap[4].time.seconds() / ideal.physical_bound.value(), 1, 0.02);
    EXPECT_EQ(half.gap[2].time, ideal.gap[2].time);
}

}  // namespace
}  // namespace podsim::scenarios
