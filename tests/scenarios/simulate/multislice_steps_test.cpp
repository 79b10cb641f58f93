// Steps and commands over several slices, and meshes mapped as JAX does.
#include <cmath>
#include <gtest/gtest.h>
#include <string>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "sim/base/error.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using samples::small_model;
using samples::sum;

/// Returns a step of two slices with the axis `data` across them, and the given axes within them.
Scenario two_slices(topology::Point shape,
                    const std::vector<std::pair<std::string, std::string>>& in_slice) {
    Scenario scenario = make_scenario("v5p", shape, small_model(3), in_slice, 128, 512);
    std::vector<topology::LogicalAxis> axes = scenario.step().mesh.axes();
    axes.push_back({"data", {{topology::kSliceAxis, 1, 2}}});
    scenario.hardware.slices = 2;
    scenario.step().mesh = topology::DeviceMesh(scenario.hardware.slice, axes, 2);
    scenario.step().plan.ways.data = 2;
    return scenario;
}

TEST(MultisliceStep, FoldedIsUnfolded) {
    for (const auto& in_slice : std::vector<std::vector<std::pair<std::string, std::string>>>{
             {{"fsdp", "x y z"}},
             {{"fsdp", "x y"}, {"tensor", "z"}},
             {{"fsdp", "x/2 y z"}, {"tensor", "x%2"}}}) {
        const Scenario scenario = two_slices({4, 4, 4}, in_slice);
        SCOPED_TRACE(in_slice.front().second);
        const StepResult small = simulate_step(scenario, Fold::automatic);
        const StepResult whole = simulate_step(scenario, Fold::off);
        EXPECT_EQ(whole.simulated_chips, 128);
        EXPECT_LE(small.simulated_chips, 8);
        EXPECT_EQ(small.step_time.ps, whole.step_time.ps);
        EXPECT_EQ(small.events * 128, whole.events * static_cast<unsigned>(small.simulated_chips));
        EXPECT_EQ(small.compute.ps, whole.compute.ps);
        ASSERT_EQ(small.exposed.size(), whole.exposed.size());
        for (std::size_t i = 0; i < small.exposed.size(); ++i) {
            EXPECT_EQ(small.exposed[i].name, whole.exposed[i].name);
            EXPECT_EQ(small.exposed[i].time.ps, whole.exposed[i].time.ps);
        }
        ASSERT_EQ(small.gap.size(), whole.gap.size());
        for (std::size_t i = 0; i < small.gap.size(); ++i) {
            EXPECT_EQ(small.gap[i].time.ps, whole.gap[i].time.ps) << small.gap[i].name;
        }
        ASSERT_EQ(small.links.size(), whole.links.size());
        for (std::size_t i = 0; i < small.links.size(); ++i) {
            EXPECT_EQ(small.links[i].name, whole.links[i].name);
            EXPECT_EQ(small.links[i].bytes.value(), whole.links[i].bytes.value());
            EXPECT_EQ(small.links[i].busiest_fraction, whole.links[i].busiest_fraction);
        }
        EXPECT_GE(small.step_time.ps, sim::round_down(small.lower.time).ps);
        EXPECT_EQ(sum(small.gap).ps, small.step_time.ps - sim::round_down(small.lower.time).ps);
    }
}

/// Gradients leave a slice once: every chip's shard of P / 64 parameters in bf16 twice (reduced and
/// gathered between 2 slices, V / 2 in each direction and time), over PCIe in one direction.
TEST(MultisliceStep, GradientsLeaveTheSliceOnce) {
    const Scenario scenario = two_slices({4, 4, 4}, {{"fsdp", "x y z"}});
    const StepResult result = simulate_step(scenario, Fold::automatic);
    const double shard =
        2.0 * static_cast<double>(workloads::count_parameters(scenario.step().model).total) / 64;
    for (const LinkUse& use : result.links) {
        if (use.name == "pcie") {
            EXPECT_NEAR(use.bytes.value(), shard, 0.02 * shard);
        }
        if (use.name == "dcn") {
            EXPECT_NEAR(use.bytes.value(), 4 * shard, 0.02 * 4 * shard);
        }
    }
}

class MultisliceCommand : public CommandTest {};

TEST_F(MultisliceCommand, AllToAllGoesBetweenSlices) {
    const auto run = [](const std::string& fold) {
        return podsim({"collective", "--chip", "v5p", "--slice", "4x4x4", "--op", "all-to-all",
                       "--slices", "2", "--axes", "xyz slice", "--bytes", "1e8", "--fold", fold,
                       "--json", "-"});
    };
    const Outcome small = run("auto");
    ASSERT_EQ(small.status, 0) << small.err;
    const auto one = nlohmann::json::parse(small.out);
    const auto all = nlohmann::json::parse(run("off").out);
    EXPECT_EQ(one["simulated_s"], all["simulated_s"]);
    EXPECT_EQ(one["algorithm"], "shortest-routes");
    // Every chip sends V / (128^2) to each of 64 others, V / 256 in total. 64 chips share 16 hosts
    // of 25 GB/s: 62.5 us.
    EXPECT_DOUBLE_EQ(one["physical_bound_s"].get<double>(), 62.5e-6);
    const Outcome flat =
        podsim({"collective", "--chip", "v5p", "--slice", "4x4x4", "--op", "all-to-all", "--slices",
                "2", "--axes", "xyz slice", "--bytes", "1e8", "--algorithm", "flat"});
    EXPECT_EQ(flat.status, 2);
    EXPECT_NE(flat.err.find("algorithm 'flat' does not carry out all-to-all; allowed: auto, "
                            "shortest-routes, one-way"),
              std::string::npos)
        << flat.err;
}

class MeshMapping : public CommandTest {
protected:
    std::string mesh(const std::string& text) {
        const Scenario scenario = load_scenario(write(good_but("mesh: {fsdp: x y z}\n", text)));
        std::string axes;
        for (std::size_t i = 0; i < scenario.step().mesh_axes.size(); ++i) {
            axes += (i == 0 ? "" : ", ") + scenario.step().mesh.axes()[i].name + ' ' +
                    scenario.step().mesh_axes[i];
        }
        return axes;
    }
    std::string error(const std::string& text) {
        try {
            return mesh(text);
        } catch (const sim::InputError& e) {
            const std::string what = e.what();
            return what.substr(what.find(".yaml:") + 6);
        }
    }
};

TEST_F(MeshMapping, OfSizes) {
    EXPECT_EQ(mesh("mesh: {fsdp: 16, tensor: 4}\n"), "fsdp y z, tensor x");
    // podsim places tensor first, then the others as written; JAX places the last first.
    EXPECT_EQ(mesh("mesh: {data: 4, fsdp: 4, tensor: 4}\n"), "data y, fsdp z, tensor x");
    EXPECT_EQ(mesh("mesh: {data: 4, fsdp: 4, tensor: 4}\nmesh_mapping: jax\n"),
              "data z, fsdp y, tensor x");
    EXPECT_EQ(mesh("mesh: {data: 2, fsdp: 8, tensor: 4}\nmesh_mapping: jax_split\n"),
              "data z/2, fsdp y z%2, tensor x");
}

TEST_F(MeshMapping, Messages) {
    EXPECT_EQ(
        error("mesh: {data: 2, fsdp: 8, tensor: 4}\nmesh_mapping: jax\n"),
        "4:7: mesh: the 8 chips of 'fsdp' are not the product of whole axes of slice 4x4x4: the "
        "axes after it leave y 4, z 4; choose sizes that are, or the mapping that splits axes, "
        "jax_split");
    EXPECT_EQ(error("mesh: {fsdp: x y z}\nmesh_mapping: jax\n"),
              "5:15: mesh_mapping: a mapping of sizes, but the mesh gives none; write the size of "
              "every axis: mesh: {fsdp: 16, tensor: 4}");
    EXPECT_EQ(
        error("mesh: {fsdp: 64}\nmesh_mapping: jaxx\n"),
        "5:15: unknown mesh_mapping 'jaxx'; did you mean 'jax'? allowed: podsim, jax, jax_split");
}

}  // namespace
}  // namespace podsim::scenarios
