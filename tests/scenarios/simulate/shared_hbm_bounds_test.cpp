// Bounds and estimates of steps whose kernels and messages share the HBM.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "collectives/algorithms/ring_step_schedule.h"
#include "scenarios/src/report/step_json.h"
#include "scenarios/src/report/step_report.h"
#include "scenarios/src/simulate/hbm_use.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/run_step.h"
#include "tests/scenarios/simulate/pipeline_support.h"
#include "workloads/bounds/least_traffic.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;

void slow_down_hbm(Scenario& scenario, double times) {
    scenario.hardware.hbm = HbmRule::shared;
    topology::ChipSpec& chip = scenario.hardware.chip;
    chip.hbm_bandwidth.value = sim::BytesPerSecond(chip.hbm_bandwidth.value.value() / times);
}

/// Mean HBM bytes per chip that a step's messages move: the lower bound, and the simulated amount.
struct Messages {
    double least = 0;
    double moved = 0;
};
Messages messages_of(const Scenario& scenario) {
    const auto programs = workloads::build_stages(scenario.step().model, scenario.step().plan);
    const LoweredStep step = lower_step(programs, AchievedHardware(scenario.hardware),
                                        scenario.step().mesh, Fold::automatic);
    const std::size_t count = programs.programs.size();
    const std::vector<sim::Bytes> no_kernels(count);
    Messages messages;
    messages.moved =
        hbm_use(step.workload, no_kernels, step.layout, sim::Time{1'000'000'000}).bytes.value();
    for (std::size_t p = 0; p < count; ++p) {
        messages.least += workloads::memory_traffic(programs, p, scenario.step().mesh,
                                                    ideal_rates(scenario.hardware))
                              .mean.value() /
                          static_cast<double>(count);
    }
    return messages;
}

/// Returns steps whose data moves differently than in random ones: stages, slices, the host,
/// windows, unequal members.
std::vector<Scenario> special_steps() {
    std::vector<Scenario> steps;
    for (const auto placement : {workloads::Placement::zig_zag, workloads::Placement::plain}) {
        workloads::ModelSpec model = samples::small_model(4);
        model.window = 640;
        model.global_every = 3;
        Scenario window =
            make_scenario("v5p", {4, 4, 4}, model, {{"fsdp", "x y"}, {"context", "z"}}, 64, 4096);
        window.step().plan.attention.placement = placement;
        window.step().plan.overlap.context_steps = collectives::step_gather(
            window.hardware.slice, window.step().mesh.group({"context"}), false);
        steps.push_back(window);
        window.step().model.window = 0;  // around the whole ring
        steps.push_back(window);
        window.step().plan.overlap.context_steps.reset();
        steps.push_back(window);
    }
    Scenario matmul = make_scenario("v5e", {4, 4, 1}, samples::small_model(3),
                                    {{"fsdp", "x"}, {"tensor", "y"}}, 16, 512);
    matmul.step().plan.overlap.tensor_steps =
        collectives::step_gather(matmul.hardware.slice, matmul.step().mesh.group({"tensor"}), true);
    steps.push_back(matmul);
    Scenario offload = make_scenario("v5p", {4, 4, 4}, samples::small_model(4),
                                     {{"fsdp", "x y"}, {"tensor", "z"}}, 64, 512);
    offload.step().plan.remat.policy = workloads::RematPolicy::named;
    offload.step().plan.remat.names.offload = {workloads::LayerTensor::qkv};
    steps.push_back(offload);
    Scenario experts = make_scenario("v5p", {4, 4, 4}, samples::latent_experts(3),
                                     {{"fsdp", "x"}, {"tensor", "y"}, {"expert", "z"}}, 64, 256);
    steps.push_back(experts);
    experts.step().plan.experts.loads = {2, 1, 0.5, 0.5};
    steps.push_back(experts);
    steps.push_back(samples::pipeline_on({4, 4, 4}, {{"pipeline", "x"}, {"fsdp", "y z"}}, 64,
                                         workloads::PipelineSchedule::zero_bubble, 8));
    for (const char* across : {"data", "fsdp"}) {
        Scenario slices = make_scenario("v5p", {2, 2, 4}, samples::small_model(3),
                                        {{"tensor", "x"}, {"fsdp", "y z"}}, 64, 512);
        slices.hardware.slices = 2;
        slices.step().mesh = topology::DeviceMesh(
            slices.hardware.slice,
            {{"tensor", {{0, 1, 2}}},
             {across == std::string("data") ? "fsdp" : "data", {{1, 1, 2}, {2, 1, 4}}},
             {across, {{topology::kSliceAxis, 1, 2}}}},
            2);
        slices.step().plan.ways.fsdp = slices.step().mesh.size("fsdp");
        slices.step().plan.ways.data = slices.step().mesh.size("data");
        steps.push_back(slices);
    }
    return steps;
}

/// Expects that the bounds hold. Returns true if messages contribute to the bound of the step.
bool expect_bounds_hold(Scenario scenario, double slower) {
    slow_down_hbm(scenario, slower);
    const Messages messages = messages_of(scenario);
    EXPECT_LE(messages.least, messages.moved * (1 + 1e-9));
    const StepResult result = simulate_step(scenario, Fold::automatic);
    samples::expect_exact_sums(result);
    EXPECT_LE(result.lower.hbm_kernels, result.lower.hbm);
    const bool counted = result.lower.bound == "hbm" && result.lower.hbm_kernels < result.lower.hbm;
    EXPECT_EQ(std::ranges::count(result.gap, "HBM of messages", &Share::name), counted ? 1 : 0);
    scenario.hardware.hbm = HbmRule::separate;
    const workloads::LowerBound apart = simulate_step(scenario, Fold::automatic).lower;
    EXPECT_EQ(apart.hbm, apart.hbm_kernels);
    EXPECT_LE(apart.time, result.lower.time);
    return counted;
}

// No step is faster than the bound, and no schedule moves less than the bound counts. This holds
// with the HBM as it is, and with one so slow that it is the bound.
TEST(SharedHbmBounds, HoldOfRandomSteps) {
    int counted = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const Scenario scenario = samples::random_scenario(random);
        counted += expect_bounds_hold(scenario, seed % 3 == 0 ? 1 : seed % 3 == 1 ? 8 : 64) ? 1 : 0;
    }
    EXPECT_GT(counted, 10) << "the test should exercise the bound";
}

TEST(SharedHbmBounds, HoldOfStepsOfEveryKind) {
    int number = 0;
    for (const Scenario& scenario : special_steps()) {
        SCOPED_TRACE(number++);
        expect_bounds_hold(scenario, 1);
        EXPECT_TRUE(expect_bounds_hold(scenario, 32));
    }
}

// LLaMA 2-13B, a forward pass of 8 tokens on one v5e (197 TFLOP/s, 810 GB/s). Each of 40 layers of
// 5120 x (4 x 5120 + 3 x 13824) = 317,194,240 parameters takes 634.4 MB / 810 GB/s = 783.2 us to
// load and 2 x 8 x 317.2e6 / 197e12 = 25.8 us to multiply by. The table of 32000 x 5120 takes
// 404.5 us and 13.3 us. In attention each query has 8 keys, half of which are seen.
TEST(SharedHbmBounds, TheBookOfAFewTokensIsTheLoadingOfWeights) {
    Scenario scenario =
        make_scenario("v5e", {1, 1, 1}, workloads::find_model("llama-2-13b"), {}, 1, 8);
    scenario.step().plan.forward_only = true;
    scenario.hardware.hbm = HbmRule::separate;
    const StepResult apart = simulate_step(scenario, Fold::automatic);
    const double layer = 5120.0 * (4 * 5120 + 3 * 13824);
    const double table = 32000.0 * 5120;
    const double attention = 40 * (2.0 * 8 * 4 * 2 * 5120) / 197e12;
    EXPECT_NEAR(apart.book.value(), 2 * 8 * (40 * layer + table) / 197e12 + attention, 1e-12);
    EXPECT_THAT(step_report(scenario, apart, {}, {}),
                ::testing::HasSubstr("the reference text's closed forms\n"));
    EXPECT_FALSE(step_json(scenario, apart, {}, {})["analytic"].contains("book_weight_loading"));

    scenario.hardware.hbm = HbmRule::shared;
    const StepResult shared = simulate_step(scenario, Fold::automatic);
    EXPECT_NEAR(shared.book.value(), 2 * (40 * layer + table) / 810e9 + attention, 1e-12);
    EXPECT_NEAR(shared.book.value(), 31.73e-3, 5e-6);
    EXPECT_LE(shared.book, shared.lower.time);
    EXPECT_LT(shared.step_time.seconds(), 1.01 * shared.book.value());
    EXPECT_THAT(step_report(scenario, shared, {}, {}),
                ::testing::HasSubstr("the reference text's closed forms; bound by loading weights: "
                                     "forward, unembedding\n"));
    EXPECT_EQ(step_json(scenario, shared, {}, {})["analytic"]["book_weight_loading"].dump(),
              R"(["forward","unembedding"])");
    // A private HBM has the same bound from kernels here: one chip has no messages.
    EXPECT_EQ(shared.lower.time, apart.lower.time);
}

}  // namespace
}  // namespace podsim::scenarios
