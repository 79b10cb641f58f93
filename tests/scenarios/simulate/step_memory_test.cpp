// Programs and schedules that steps share in a StepMemory change no result.
#include "scenarios/src/simulate/step_memory.h"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "scenarios/src/report/step_json.h"
#include "scenarios/src/report/verdict.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {
namespace {

constexpr const char* kStep =
    "hardware: {chip: v5p, slice: 4x4x4}\n"
    "model: {base: llama-3-8b, layers: 4}\n"
    "batch: {tokens: 256Ki, sequence: 4096}\n"
    "mesh: {fsdp: y z, tensor: x%2, data: x/2}\n";

/// Settings that change positions, groups, bytes, rates, links of hosts, folding, the order of
/// operations, or only the program.
const std::vector<std::vector<std::string>> kChanges{
    {},
    {"training.remat=none"},
    {"batch.tokens=512Ki"},
    {"mesh={fsdp: x y z}"},
    {"mesh={fsdp: y z, context: x}"},
    {"mesh={fsdp: z, pipeline: y, tensor: x}", "training.microbatches=4"},
    {"hardware.chip={base: v5p, ici_one_way: 50 GB/s}"},
    {"hardware.chip={base: v5p, ici_latency: 3 us}"},
    {"hardware.profile=ideal"},
    {"hardware.latency=floor"},
    {"hardware.message_cap=1 MiB"},
    {"hardware.hbm=private"},
    {"hardware.slice=4x4x8"},
    {"hardware.slice=2x4x4", "mesh={fsdp: y z, tensor: x}"},
    {"hardware.slices=2", "mesh={fsdp: y z, tensor: x, data: slice}"},
    {"hardware.slices=2", "hardware.oversubscription=4",
     "mesh={fsdp: y z, tensor: x, data: slice}"},
    {"training.remat={save: [qkv_proj], offload: [decoder_layer_input]}"},
    {"overlap.prefetch_layers=0"},
    {"overlap.tensor=two-way"},
    {"overlap.schedule=latency_hiding"},
    {"perturb=[{kind: slow_chips, factor: 1.5, x: 1}]"},
};

Scenario scenario_with(const std::vector<std::string>& settings) {
    ScenarioSource source("s.yaml");
    source.text = kStep;
    return load_scenario(source, settings);
}

std::string json_of(const Scenario& scenario, Fold fold, StepMemory* memory) {
    const StepResult result = simulate_step(scenario, fold, {.explain = false, .memory = memory});
    return step_json(scenario, result, judge(scenario, result), std::nullopt).dump();
}

TEST(StepMemory, ChangesNoStep) {
    std::mt19937_64 random(20261125);
    std::vector<Scenario> scenarios;
    std::vector<std::string> alone;
    for (const auto& change : kChanges) {
        SCOPED_TRACE(change.empty() ? "" : change.front());
        scenarios.push_back(scenario_with(change));
        alone.push_back(json_of(scenarios.back(), Fold::automatic, nullptr));
    }
    StepMemory memory;
    for (int time = 0; time < 80; ++time) {
        const std::size_t i = random() % scenarios.size();
        SCOPED_TRACE(kChanges[i].empty() ? "" : kChanges[i].front());
        EXPECT_EQ(json_of(scenarios[i], Fold::automatic, &memory), alone[i]) << "time " << time;
        if (time % 8 == 0) {
            EXPECT_EQ(json_of(scenarios[i], Fold::off, &memory),
                      json_of(scenarios[i], Fold::off, nullptr));
        }
    }
}

/// Steps that differ in their hardware alone share the program. Steps with the same collectives
/// over the same links and positions share schedules.
TEST(StepMemory, IsShared) {
    StepMemory memory;
    const auto lowered = [&](const std::vector<std::string>& change) {
        const Scenario scenario = scenario_with(change);
        return lower_step(build_step_of(scenario, memory)->programs,
                          AchievedHardware(scenario.hardware), scenario.step().mesh,
                          Fold::automatic, nullptr, &memory.collectives().local());
    };
    const auto shared = [](const LoweredStep& one, const LoweredStep& other) {
        std::size_t count = 0;
        for (const sim::Schedule& schedule : one.workload.schedules) {
            for (const sim::Schedule& as : other.workload.schedules) {
                count += &schedule == &as ? 1 : 0;
            }
        }
        return count;
    };
    const LoweredStep first = lowered({});
    const std::size_t all = first.workload.schedules.size();
    EXPECT_EQ(shared(first, lowered({})), all);
    EXPECT_EQ(shared(first, lowered({"hardware.hbm=private"})), all);
    EXPECT_EQ(shared(first, lowered({"training.remat=none"})), all);
    // The weights' collectives are the same for any batch; those of activations are not.
    const std::size_t weights = shared(first, lowered({"batch.tokens=512Ki"}));
    EXPECT_GT(weights, 0U);
    EXPECT_LT(weights, all);
    EXPECT_EQ(shared(first, lowered({"hardware.message_cap=1 MiB"})), 0U);
    EXPECT_EQ(shared(first, lowered({"hardware.latency=floor"})), 0U);

    const Scenario scenario = scenario_with({});
    const Scenario slower = scenario_with({"hardware.latency=floor"});
    EXPECT_EQ(build_step_of(scenario, memory), build_step_of(slower, memory));
    EXPECT_NE(build_step_of(scenario, memory),
              build_step_of(scenario_with({"training.remat=none"}), memory));
}

}  // namespace
}  // namespace podsim::scenarios
