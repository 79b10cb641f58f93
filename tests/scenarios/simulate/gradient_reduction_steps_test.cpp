// Steps whose microbatches reduce their gradients each, or once: the cost in a loop of layers,
// bounds, folding, and the default of a scenario.
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/request.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using samples::small_model;
using workloads::GradientReduction;

constexpr GradientReduction kReductions[] = {GradientReduction::each, GradientReduction::data_once,
                                             GradientReduction::once};

/// Returns a step with layers in a loop, data over one ring of four chips, and only matmuls and
/// link bytes.
Scenario looped(int microbatches, GradientReduction when) {
    Scenario scenario =
        make_scenario("v5p", {4, 1, 1}, small_model(3), {{"data", "x"}}, 4 * microbatches, 1024);
    samples::leave_math_alone(scenario.hardware.chip);
    scenario.hardware.chip.ici_latency.value = sim::Seconds(0);
    scenario.hardware.chip.collective_launch.value = sim::Seconds(0);
    workloads::TrainingPlan& plan = scenario.step().plan;
    plan.batch.microbatches = microbatches;
    plan.layers_only = true;
    plan.overlap.layer_loop = true;
    plan.reduction = when;
    return scenario;
}

// An iteration of the loop ends with its reduction, which begins with the last weight gradient, so
// none of it is hidden. Thus m microbatches of L layers take exactly (m - 1) L lone AllReduces of a
// layer's P bytes longer than one reduction at the end does. Each takes at least its bound over a
// ring of n in both directions, 2 (n - 1) / n P / (2 W).
TEST(GradientReductionSteps, EveryMicrobatchOfALoopWaitsForItsReductions) {
    const double bytes =
        2 * static_cast<double>(workloads::count_layer(small_model(3), {}).total());
    CollectiveRequest request;
    request.hardware = looped(2, GradientReduction::each).hardware;
    request.operation = collectives::Operation::all_reduce;
    request.members = {{{0, 1, 4}}, {}};
    request.bytes = sim::Bytes(bytes);
    const std::int64_t lone = simulate_collective(request, Fold::automatic).simulated.ps;
    const double links = 2 * request.hardware.chip.ici_one_way_book.value.value();
    EXPECT_GE(static_cast<double>(lone), 2 * 0.75 * bytes / links * 1e12);
    for (const int m : {2, 5}) {
        const auto time = [&](GradientReduction when) {
            return simulate_step(looped(m, when), Fold::automatic).step_time.ps;
        };
        EXPECT_EQ(time(GradientReduction::each) - time(GradientReduction::data_once),
                  (m - 1) * 3 * lone);
        EXPECT_EQ(time(GradientReduction::once), time(GradientReduction::data_once));
    }
}

// The bound and the quotient hold for all forms: any mesh, buckets, ZeRO, loops and pipelines.
TEST(GradientReductionSteps, BoundsHoldAndFoldedIsUnfolded) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const auto pick = [&](std::uint64_t most) { return static_cast<int>(random() % most); };
        const samples::Mesh meshes[] = {
            {{"data", "x y z"}},
            {{"data", "x"}, {"fsdp", "y z"}},
            {{"data", "x/2"}, {"fsdp", "y z"}, {"tensor", "x%2"}},
            {{"data", "y"}, {"fsdp", "x"}, {"context", "z"}},
        };
        const int m = 2 + pick(2);
        Scenario scenario =
            make_scenario("v5p", {4, 2, 2}, small_model(2), meshes[pick(4)], 16 * m, 1024);
        workloads::TrainingPlan& plan = scenario.step().plan;
        plan.batch.microbatches = m;
        plan.zero = pick(3);
        plan.overlap.layer_loop = pick(2) == 1;
        if (pick(3) == 0) {
            plan.overlap.bucket = sim::Bytes(1e6);
        }
        plan.reduction = kReductions[pick(3)];
        const StepResult folded = simulate_step(scenario, Fold::automatic);
        const StepResult whole = simulate_step(scenario, Fold::off);
        EXPECT_EQ(folded.step_time, whole.step_time);
        EXPECT_EQ(whole.events * static_cast<std::uint64_t>(folded.simulated_chips),
                  folded.events * static_cast<std::uint64_t>(scenario.hardware.chips()));
        EXPECT_GE(folded.step_time.ps, samples::floor_ps(folded.lower.time));
    }
}

TEST(GradientReductionSteps, AScenarioThatSaysNothingHasWhatXlaMakesOfIt) {
    const auto reduction = [](const std::vector<std::string>& settings) {
        ScenarioSource source("s.yaml");
        source.text =
            "hardware: {chip: v5p, slice: 4x4x4}\nmodel: {base: llama-3-8b, layers: 4}\n"
            "batch: {tokens: 1Mi, sequence: 4096}\nmesh: {data: x, fsdp: y z}\n"
            "training: {microbatches: 2}\n";
        return load_scenario(source, settings).step().plan.reduction;
    };
    EXPECT_EQ(reduction({}), GradientReduction::data_once);
    EXPECT_EQ(reduction({"overlap.layers=loop"}), GradientReduction::each);
    EXPECT_EQ(reduction({"overlap.layers=loop", "mesh={pipeline: x, data: y, fsdp: z}"}),
              GradientReduction::data_once);
    EXPECT_EQ(reduction({"overlap.layers=loop", "training.gradient_reduction=once"}),
              GradientReduction::once);
    EXPECT_EQ(reduction({"training.gradient_reduction=each"}), GradientReduction::each);
}

}  // namespace
}  // namespace podsim::scenarios
