// The reported memory is that of the stage, or the member, that needs most.
#include <gtest/gtest.h>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/memory.h"
#include "scenarios/src/simulate/run_step.h"
#include "tests/scenarios/simulate/pipeline_support.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

/// Returns the peak of every stage's chip.
std::vector<MemoryUse> memory_by_stage(const Scenario& scenario) {
    const TrainingStep& step = scenario.step();
    workloads::TrainingPlan plan = step.plan;
    plan.overlap.prefetch_layers = workloads::prefetch_that_fits(
        step.model, plan, most_believed(scenario.hardware.chip.usable_hbm()));
    const workloads::StepPrograms programs = workloads::build_stages(step.model, plan);
    const StepRun run = run_step(
        lower_step(programs, AchievedHardware(scenario.hardware), step.mesh, Fold::automatic));
    std::vector<MemoryUse> uses;
    for (std::size_t p = 0; p < programs.programs.size(); ++p) {
        uses.push_back(account_memory(programs.programs[p], run.chips[p],
                                      scenario.hardware.chip.usable_hbm()));
    }
    return uses;
}

// 1F1B holds most microbatches in the first stage. A vocabulary of a million entries puts more into
// the last, with its logits, than the embedding's table into the first.
TEST(Memory, IsThatOfTheStageThatNeedsMost) {
    for (const std::int64_t vocabulary : {std::int64_t{128}, std::int64_t{1} << 20}) {
        Scenario scenario =
            samples::pipeline_on({4, 4, 2}, {{"pipeline", "z"}, {"fsdp", "x y"}}, 64,
                                 workloads::PipelineSchedule::one_f_one_b, 4, 1);
        scenario.step().model.vocabulary = vocabulary;
        const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
        const std::vector<MemoryUse> uses = memory_by_stage(scenario);
        ASSERT_EQ(uses.size(), 2U);
        const std::size_t largest = vocabulary > 128 ? 1 : 0;
        EXPECT_GT(uses[largest].peak, uses[1 - largest].peak);
        EXPECT_EQ(result.memory.stage, static_cast<int>(largest));
        EXPECT_EQ(result.memory.peak, uses[largest].peak);
        EXPECT_EQ(result.memory.peak_at, uses[largest].peak_at);
        EXPECT_EQ(result.memory.at_peak, uses[largest].at_peak);
    }
}

workloads::Buffer buffer(workloads::MemoryClass memory_class, double bytes, workloads::OpIndex from,
                         std::vector<workloads::OpIndex> until) {
    return {memory_class, sim::Bytes(bytes), from, std::move(until)};
}

// Operations run from 0 to 10, 10 to 30 and 20 to 40. At one instant, buffers are freed before
// others are allocated.
TEST(Memory, PeaksWhereTheBuffersOfARunAddUpToMost) {
    using workloads::MemoryClass;
    workloads::StepProgram program;
    program.ops.resize(3);
    const ChipRun run{
        .began = {{0}, {10}, {20}}, .ended = {{10}, {30}, {40}}, .sent = {{}, {}, {}}};
    program.buffers = {
        buffer(MemoryClass::parameters, 100, workloads::kWholeStep, {}),
        buffer(MemoryClass::activations, 50, 0, {0}),                   // [0, 10)
        buffer(MemoryClass::buffers, 60, 1, {0, 1}),                    // [10, 30)
        buffer(MemoryClass::gradients, 5, 2, {}),                       // from 20 on
        buffer(MemoryClass::optimizer, 1, workloads::kWholeStep, {0}),  // [0, 10)
    };
    const MemoryUse use = account_memory(program, run, sim::Bytes(164));
    EXPECT_EQ(use.peak, sim::Bytes(165));
    EXPECT_EQ(use.peak_at.ps, 20);
    EXPECT_FALSE(use.fits);
    const std::vector<std::pair<std::string, sim::Bytes>> expected{
        {"parameters", sim::Bytes(100)},     {"gradients", sim::Bytes(5)},
        {"optimizer", sim::Bytes(0)},        {"activations", sim::Bytes(0)},
        {"gathered_weights", sim::Bytes(0)}, {"kv_cache", sim::Bytes(0)},
        {"buffers", sim::Bytes(60)}};
    EXPECT_EQ(use.at_peak, expected);
    EXPECT_TRUE(account_memory(program, run, sim::Bytes(165)).fits);
    // Tight from 165 / 1.05 = 157.1 to 165 / 0.95 = 173.7.
    for (const auto& [capacity, tight] :
         {std::pair{157, false}, {158, true}, {165, true}, {173, true}, {174, false}}) {
        EXPECT_EQ(account_memory(program, run, sim::Bytes(capacity)).tight, tight) << capacity;
    }
}

}  // namespace
}  // namespace podsim::scenarios
