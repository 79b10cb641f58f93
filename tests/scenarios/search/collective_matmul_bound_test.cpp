// search_bound of steps with collective matmuls on any mesh, rings and lines, never exceeds their
// simulated step.
#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/search/mesh_space.h"
#include "scenarios/src/search/step_outline.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/checkout.h"
#include "topology/chips/chip.h"

namespace podsim::scenarios {
namespace {

struct Machine {
    const char* chip;
    topology::Point slice;
};

MeshSpace meshes_of(const Machine& machine, const std::string& third) {
    IdealHardware hardware;
    hardware.chip = topology::find_chip(machine.chip);
    hardware.shape = machine.slice;
    hardware.slice = topology::make_slice(hardware.chip, machine.slice, false);
    return MeshSpace(hardware, {{"fsdp"}, {"tensor", {2, 4, 8, 16}}, {third, {1, 2, 4}}});
}

// Small slices with no wrapped axis or only one; tensor over several axes and factors, and across
// other groups. The step's own program is a bound. So is the plan with blocking collectives that
// stands for it at first.
TEST(CollectiveMatmulBound, IsBelowRandomStepsOfAnyMesh) {
    std::mt19937_64 random(20261125);
    const auto one_of = [&](const auto& all) { return all[random() % all.size()]; };
    const std::vector<Machine> machines{{"v4p", {2, 2, 4}}, {"v5e", {4, 4, 1}}, {"v5e", {2, 4, 1}},
                                        {"v5e", {4, 8, 1}}, {"v4p", {2, 2, 2}}, {"v5p", {2, 4, 4}}};
    const std::vector<std::string> models{
        "{base: gemma-2b, layers: 8, d_model: 1024, d_ff: 4096, vocabulary: 32000}",
        "{base: llama-3-8b, layers: 4}",
        "{base: llama-3-8b, layers: 12, d_model: 2048, heads: 16, kv_heads: 8}"};
    std::size_t several = 0;
    double kept = 0;
    for (int round = 0; round < 60; ++round) {
        const Machine machine = one_of(machines);
        const MeshSpace meshes =
            meshes_of(machine, one_of(std::vector<std::string>{"context", "pipeline"}));
        const auto mesh = static_cast<std::uint32_t>(random() % meshes.size());
        std::vector<std::string> settings{
            fmt::format("hardware={{chip: {}, slice: {}}}", machine.chip,
                        topology::to_string(machine.slice)),
            "model=" + one_of(models),
            "mesh=" + meshes.text(mesh),
            fmt::format("batch={{tokens: {}, sequence: 512}}", 512 * 64 * (1 + random() % 3)),
            "training.remat=" + one_of(std::vector<std::string>{"full", "none", "minimal"}),
            "overlap.schedule=" + one_of(std::vector<std::string>{"chain", "latency_hiding"}),
            "training.microbatches=4"};
        SCOPED_TRACE(fmt::format("{}", fmt::join(settings, " ")));
        const auto with = [&](const std::string& tensor) {
            settings.push_back("overlap.tensor=" + tensor);
            return load_scenario(source_folder() + "/scenarios/quickstart/llama3-70b-v5p-pod.yaml",
                                 settings);
        };
        Scenario blocking = with("blocking");
        if (round % 3 == 0) {
            // The memory is so small that the blocking plan does not fit, or looks less far ahead
            // to fit; that of its matmuls may fit.
            settings.emplace_back("overlap.prefetch_layers=2");
            blocking = with("blocking");
            const StepResult needs = simulate_step(blocking, Fold::automatic, {.explain = false});
            settings.push_back(fmt::format(
                "hardware.chip={{base: {}, hbm_capacity: {:.6f} GB}}", machine.chip,
                blocking.hardware.chip.hbm_capacity.value.value() / 1e9 *
                    (needs.memory.peak / needs.memory.capacity) * (round % 2 == 0 ? 0.99 : 0.9)));
            blocking = with("blocking");
        }
        const topology::DeviceMesh& placed = blocking.step().mesh;
        StepOutline rough(blocking, TensorCollectives::in_steps);
        for (const char* const tensor : {"one-way", "two-way"}) {
            const Scenario scenario = with(tensor);
            const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
            StepOutline own(scenario);
            ASSERT_LE(own.least_peak(), result.memory.peak);
            EXPECT_LE(own.bound(placed), result.step_time) << tensor;
            EXPECT_LE(rough.bound(placed), result.step_time) << tensor << ", blocking";
            ASSERT_LE(rough.least_kept(), result.memory.peak);
            kept += rough.least_kept() / result.memory.peak;
        }
        several += placed.group({"tensor"}).size() > 1 ? 1 : 0;
    }
    EXPECT_GT(several, 20U);
    EXPECT_GT(kept / 120, 0.3) << "of the peak is sure";
}

}  // namespace
}  // namespace podsim::scenarios
