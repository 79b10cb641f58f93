// The scenario's own plan is in the space of values that a search chooses itself, for every key;
// listed values are kept as listed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/search/search.h"
#include "scenarios/src/search/search_space.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "topology/chips/chip.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

class OwnPlanTest : public CommandTest {
protected:
    static sim::Time step_of(const Scenario& scenario) {
        return simulate_step(scenario, Fold::automatic, {.explain = false}).step_time;
    }
    /// Expects the plan of the file to be in the space, and returns it as the space has it.
    static std::vector<std::string> expect_own(const SearchSpace& space, const std::string& file) {
        const std::optional<OwnPlan>& own = space.own();
        if (!own || !own->candidate) {
            ADD_FAILURE() << file << " is not in the space " << (own ? own->refused : "");
            return {"none"};
        }
        EXPECT_EQ(step_of(space.scenario(own->facts, *own->candidate)),
                  step_of(load_scenario(file)));
        return space.set(own->facts, *own->candidate);
    }
};

constexpr const char* kStep =
    "hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-8b, layers: 4}\n"
    "batch: {tokens: 128Ki, sequence: 2048}\n";

// Each key has a value that no list of usual values has.
TEST_F(OwnPlanTest, IsInTheSpaceForEveryKey) {
    const std::string file = write(
        "hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-8b, layers: 4}\n"
        "batch: {tokens: 192Ki, sequence: 2048}\n"
        "mesh: {data: x%2, fsdp: x/2 y%2, tensor: y/2}\n"
        "training: {remat: {offload: [attention_out], save: [out_proj]}, microbatches: 3}\n"
        "overlap: {prefetch_layers: 3, tensor: one-way, weights: matmul}\n");
    for (const OverName& each : over_names()) {
        SCOPED_TRACE(each.name);
        const SearchSpace space(file, {}, {.over = {std::string(each.name)}});
        // These two keys have a usual value: `weights` the third and, by default, `schedule`
        // the second.
        const bool usual = each.name == "weights" || each.name == "schedule";
        EXPECT_EQ(space.settings(), each.values.size() + (usual ? 0 : 1));
        ASSERT_TRUE(space.own()->candidate.has_value()) << space.own()->refused;
        EXPECT_EQ(space.own()->facts.setting, each.name == "weights"    ? 2U
                                              : each.name == "schedule" ? 1U
                                                                        : each.values.size());
    }
    const SearchSpace all(file, {}, {.over = {"mesh", "remat", "prefetch", "overlap", "slice"}});
    const std::vector<std::string> set = expect_own(all, file);
    EXPECT_THAT(set,
                ::testing::Contains("training.remat={offload: [attention_out], save: [out_proj]}"));
    EXPECT_EQ(set.back(), "mesh={data: x%2, fsdp: x/2 y%2, tensor: y/2}");
}

// A key that is left out has its default, which every list of usual values has.
TEST_F(OwnPlanTest, HasTheUsualValuesWhereItSaysNothing) {
    const std::string file = write(kStep);
    for (const OverName& each : over_names()) {
        const SearchSpace space(file, {}, {.over = {std::string(each.name)}});
        EXPECT_EQ(space.settings(), each.values.size()) << each.name;
        EXPECT_TRUE(space.own()->candidate.has_value()) << each.name;
    }
    EXPECT_EQ(expect_own(SearchSpace(file, {}, {.over = {"mesh"}}), file).back(),
              "mesh={fsdp: x y}");
}

// Under another name, or on an exchanged mesh, it is no second candidate.
TEST_F(OwnPlanTest, IsTheSamePlanByAnotherName) {
    const auto settings_with = [&](const std::string& remat) {
        const std::string file =
            write(std::string(kStep) + "training: {remat: " + remat + "}\nmesh: {fsdp: x y}\n");
        const SearchSpace space(file, {}, {.over = {"remat"}});
        static_cast<void>(expect_own(space, file));
        return std::pair(space.settings(), space.own()->facts.setting);
    };
    EXPECT_EQ(settings_with("minimal_flash"), std::pair(std::size_t{11}, 1U));
    EXPECT_EQ(settings_with("matmuls"), std::pair(std::size_t{11}, 2U));
    EXPECT_EQ(settings_with("{offload: [query_proj, kv_proj, decoder_layer_input]}"),
              std::pair(std::size_t{11}, 9U));
    // Nothing reads a dense layer's output.
    EXPECT_EQ(settings_with("{save: [qkv_proj, mlp_out]}"), std::pair(std::size_t{11}, 5U));
    const auto number_with = [&](const std::string& mesh) {
        const std::string file = write(std::string(kStep) + "mesh: " + mesh + "\n");
        const SearchSpace space(file, {}, {.over = {"mesh"}});
        static_cast<void>(expect_own(space, file));
        EXPECT_EQ(space.plans(), 45U);
        return space.own()->candidate->mesh;
    };
    EXPECT_EQ(number_with("{fsdp: x, tensor: y}"), number_with("{tensor: x, fsdp: y}"));
    EXPECT_EQ(number_with("{fsdp: y x/2, tensor: x%2}"), number_with("{fsdp: 8, tensor: 2}"));
}

// Random meshes, both in the space and not, with factors in any order: the space has that plan, or
// adds it.
TEST_F(OwnPlanTest, HasItsMesh) {
    IdealHardware hardware;
    hardware.chip = topology::find_chip("v5p");
    hardware.shape = {4, 4, 8};
    hardware.slice = topology::make_slice(hardware.chip, hardware.shape, false);
    const MeshSpace random_ones(hardware, {{"fsdp"}, {"tensor"}, {"pipeline", {1, 2, 4}, true}});
    const MeshSpace all(hardware, {{"fsdp"}, {"tensor"}, {"pipeline", {1, 2, 4}, true}, {"data"}});
    std::mt19937_64 random(20261129);
    const auto axes_of = [](const topology::DeviceMesh& mesh) {
        std::map<std::string, std::vector<std::tuple<int, int, int>>> axes;
        for (const topology::LogicalAxis& axis : mesh.axes()) {
            for (const topology::AxisFactor& factor : axis.factors) {
                axes[axis.name].emplace_back(factor.axis, factor.stride, factor.length);
            }
            if (axis.name != "pipeline") {
                std::ranges::sort(axes[axis.name]);
            }
        }
        return axes;
    };
    const std::vector<topology::AxisExchange> exchanges = axis_exchanges(hardware);
    std::size_t besides = 0;
    for (int round = 0; round < 300; ++round) {
        const MeshSpace& from = round % 2 == 0 ? random_ones : all;
        std::vector<topology::LogicalAxis> axes =
            from.mesh(static_cast<std::uint32_t>(random() % from.size())).axes();
        std::ranges::shuffle(axes, random);
        for (topology::LogicalAxis& axis : axes) {
            std::ranges::shuffle(axis.factors, random);
        }
        const OwnMesh own{topology::DeviceMesh(hardware.slice, axes).first_of_kind(exchanges),
                          true};
        const MeshSpace space(hardware, {{"fsdp"}, {"tensor"}, {"pipeline", {1, 2, 4}, true}},
                              &own);
        ASSERT_TRUE(space.own());
        besides += space.size() - random_ones.size();
        EXPECT_EQ(axes_of(space.mesh(*space.own()).first_of_kind(exchanges)), axes_of(own.mesh))
            << space.text(*space.own());
        EXPECT_EQ(space.class_of(*space.own()).sizes[0], own.mesh.size("fsdp"));
    }
    EXPECT_GT(besides, 50U);
    EXPECT_LT(besides, 250U);
}

// It is always simulated and reported, with its rank if it has one.
TEST_F(OwnPlanTest, IsARowWithItsPlace) {
    const std::string file =
        write(std::string(kStep) + "training: {remat: {offload: [qkv_proj]}}\nmesh: {fsdp: x y}\n");
    const auto json = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"search", file, "--no-explain", "--json", "-"});
        return nlohmann::json::parse(podsim(more).out);
    };
    const double step = step_of(load_scenario(file)).seconds();
    const auto listed = json({"--vary", "training.remat=none,full"});
    EXPECT_EQ(listed["counts"]["enumerated"], 2);
    EXPECT_EQ(listed["this_plan"]["in_space"], false);
    EXPECT_EQ(listed["this_plan"]["step_time_s"], step);
    EXPECT_FALSE(listed["this_plan"].contains("place"));
    const auto usual = json({"--over", "remat"});
    const std::size_t place = usual["this_plan"]["place"];
    EXPECT_EQ(usual["best"][place - 1]["set"], usual["this_plan"]["set"]);
    EXPECT_EQ(usual["best"][place - 1]["step_time_s"], step);
    EXPECT_THAT(podsim({"search", file, "--no-explain", "--over", "remat"}).out,
                HasSubstr(fmt::format("\n  this plan: {}  ", place)));
    EXPECT_THAT(podsim({"search", file, "--no-explain", "--vary", "training.remat=none,full"}).out,
                HasSubstr("(not in the space)\n"));
    // It is simulated first.
    ASSERT_EQ(podsim({"search", file, "--over", "mesh,prefetch", "--no-explain", "--jobs", "1",
                      "--jsonl", path("record")})
                  .status,
              0);
    std::ifstream record(path("record"));
    std::string first;
    std::getline(record, first);
    EXPECT_EQ(nlohmann::json::parse(first)["set"],
              (nlohmann::json{"overlap.prefetch_layers=1", "mesh={fsdp: x y}"}));
    const auto open = json({"--over", "remat", "--set", "batch.tokens=128001"});
    EXPECT_THAT(open["this_plan"]["refused"].get<std::string>(),
                HasSubstr("tokens = N is not a multiple of sequence = N"));
}

}  // namespace
}  // namespace podsim::scenarios
