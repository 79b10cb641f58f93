// Steps of every model of the catalogue, and of experts on an axis of their own.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using samples::small_experts;
using samples::sum;

void expect_bounds_and_sums(const StepResult& result) {
    const auto bound = sim::round_down(result.lower.time).ps;
    EXPECT_GE(result.step_time.ps, bound);
    EXPECT_EQ(sum(result.gap).ps, result.step_time.ps - bound);
    EXPECT_EQ(sum(result.exposed), result.exposed_total);
    EXPECT_EQ(result.compute + result.exposed_total, result.step_time);
}

// Axes whole and in factors, alone and beside FSDP, data and tensor parallelism.
TEST(Experts, FoldedStepsEqualUnfoldedOnes) {
    const std::vector<std::pair<std::string, std::string>> meshes[] = {
        {{"fsdp", "x y"}, {"expert", "z"}},
        {{"fsdp", "x"}, {"expert", "y z"}},
        {{"data", "x"}, {"fsdp", "y/2"}, {"expert", "y%2 z"}},
        {{"fsdp", "x"}, {"tensor", "y"}, {"expert", "z"}}};
    for (const auto& mesh : meshes) {
        SCOPED_TRACE(mesh.back().second);
        Scenario scenario = make_scenario("v5p", {4, 4, 4}, small_experts(4), mesh, 64, 256);
        scenario.step().plan.experts.imbalance = 1.25;
        const StepResult folded = simulate_step(scenario, Fold::automatic);
        const StepResult unfolded = simulate_step(scenario, Fold::off);
        EXPECT_EQ(folded.step_time, unfolded.step_time);
        EXPECT_EQ(folded.exposed_total, unfolded.exposed_total);
        EXPECT_EQ(folded.events * 64, unfolded.events * folded.simulated_chips);
        expect_bounds_and_sums(folded);
        EXPECT_TRUE(std::ranges::any_of(folded.exposed, [](const Share& share) {
            return share.name == "AllToAll over expert (expert)" && share.time.ps > 0;
        }));
    }
}

// Tiles, masks and attention blocks are the same work on every chip.
TEST(Experts, PathsFoldAndKeepTheirBounds) {
    using workloads::ExpertMatmul;
    sim::Time ideal;
    for (const ExpertMatmul matmul : {ExpertMatmul::ideal, ExpertMatmul::sparse,
                                      ExpertMatmul::dense, ExpertMatmul::dense_of_all}) {
        const bool of_all = matmul == ExpertMatmul::dense_of_all;
        SCOPED_TRACE(static_cast<int>(matmul));
        Scenario scenario =
            make_scenario("v5p", {4, 4, 4}, small_experts(4),
                          {{"fsdp", "x y"}, {of_all ? "data" : "expert", "z"}}, 64, 256);
        workloads::TrainingPlan& plan = scenario.step().plan;
        plan.moe.matmul = matmul;
        plan.experts.capacity_factor = matmul == ExpertMatmul::dense ? 1.25 : 1;
        plan.attention.backward = workloads::BackwardKernels::split;
        plan.attention.blocks = {{128, 128}, {128, 256}, {256, 128}};
        const StepResult folded = simulate_step(scenario, Fold::automatic);
        EXPECT_EQ(folded.step_time, simulate_step(scenario, Fold::off).step_time);
        expect_bounds_and_sums(folded);
        ideal = matmul == ExpertMatmul::ideal ? folded.step_time : ideal;
        EXPECT_GE(folded.step_time, ideal);
    }
}

// Each with its first layers, dense and expert, global and local, on a cube.
TEST(Experts, EveryModelOfTheCatalogueRuns) {
    for (const workloads::ModelSpec& known : workloads::model_catalogue()) {
        SCOPED_TRACE(known.name);
        workloads::ModelSpec model = known;
        model.layers = std::min<std::int64_t>(model.layers, 7);
        const bool experts = model.experts.count > 0;
        const Scenario scenario =
            make_scenario("v5p", {4, 4, 4}, model,
                          {{"fsdp", "x y"}, {experts ? "expert" : "data", "z"}}, 64, 4096);
        expect_bounds_and_sums(simulate_step(scenario, Fold::automatic));
    }
}

}  // namespace
}  // namespace podsim::scenarios
