// `podsim show`: a scenario with every default is the same scenario.
#include "scenarios/src/scenario/shown_scenario.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/src/scenario/scenario_files.h"
#include "scenarios/src/scenario/schema.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

Scenario reloaded(const ShownScenario& shown) {
    return load_scenario(handed_over("", "shown.yaml", shown.text, true), {}, Requests::any);
}

/// True for steps that take more than a second.
bool takes_long(const std::string& file) {
    return file.ends_with("sec8-pareto-2048-120.yaml") ||
           file.ends_with("llama3-405b-pipeline-slices.yaml");
}

void expect_same_run(const Scenario& a, const Scenario& b) {
    if (a.is_program()) {
        EXPECT_EQ(simulate_program(a.hardware, a.program(), Fold::automatic).time.ps,
                  simulate_program(b.hardware, b.program(), Fold::automatic).time.ps);
        return;
    }
    const StepResult one = simulate_step(a, Fold::automatic, {.explain = false});
    const StepResult other = simulate_step(b, Fold::automatic, {.explain = false});
    EXPECT_EQ(one.step_time.ps, other.step_time.ps);
    EXPECT_EQ(one.memory.peak.value(), other.memory.peak.value());
    EXPECT_EQ(one.mfu, other.mfu);
    EXPECT_EQ(one.block.ps, other.block.ps);
}

/// The library, in subsets for several processes.
class ShownLibrary : public ::testing::TestWithParam<std::size_t> {};
constexpr std::size_t kParts = 8;

TEST_P(ShownLibrary, RunsToTheSameStep) {
    const std::vector<std::string> files = scenario_files(source_folder() + "/scenarios");
    ASSERT_GT(files.size(), 150U);
    for (std::size_t i = GetParam(); i < files.size(); i += kParts) {
        SCOPED_TRACE(files[i]);
        const ShownScenario shown = show_scenario(files[i], {});
        EXPECT_EQ(settings_json(settings_in_force(files[i], {})), settings_json(shown.keys));
        const Scenario again = reloaded(shown);
        EXPECT_EQ(again.name, shown.scenario.name);
        EXPECT_EQ(again.hardware.profile, shown.scenario.hardware.profile);
        EXPECT_EQ(again.expectations.size(), shown.scenario.expectations.size());
        // Showing the shown scenario adds nothing.
        const ShownScenario twice =
            show_scenario(handed_over("", "shown.yaml", shown.text, true), {});
        EXPECT_EQ(twice.keys.size(), shown.keys.size());
        if (!takes_long(files[i]) && shown.scenario.serving == nullptr) {
            expect_same_run(shown.scenario, again);
        }
    }
}

TEST(ShownScenario, TimesAreInAUnitOfTheirOwn) {
    const ShownScenario shown =
        show_scenario(source_folder() + "/scenarios/quickstart/llama3-70b-v5p-pod.yaml", {});
    EXPECT_THAT(shown.text, ::testing::HasSubstr("dcn_latency: 10 us "));
    EXPECT_THAT(shown.text, ::testing::HasSubstr("ici_latency: 1 us "));
}

INSTANTIATE_TEST_SUITE_P(Parts, ShownLibrary, ::testing::Range(std::size_t{0}, kParts));

const ShownKey& key_of(const ShownScenario& shown, const std::string& place) {
    for (const ShownKey& key : shown.keys) {
        if (key.place == place) {
            return key;
        }
    }
    throw std::logic_error("not shown: " + place);
}

using Show = CommandTest;

TEST_F(Show, SaysWhereEachValueComesFrom) {
    const std::string file = write(kGood);
    const std::vector<std::string> set = {"training.remat=none"};
    const ShownScenario shown = show_scenario(file, set);
    const auto expect = [&](const char* place, const char* value, Origin origin, const char* from,
                            bool written) {
        const ShownKey& key = key_of(shown, place);
        EXPECT_EQ(key.value, value) << place;
        EXPECT_EQ(key.origin, origin) << place;
        EXPECT_EQ(key.from, from) << place;
        EXPECT_EQ(key.written, written) << place;
    };
    expect("hardware.chip", "v5p", Origin::file, "s.yaml:1", true);
    expect("hardware.slice", "4x4x4", Origin::file, "s.yaml:1", true);
    expect("batch.tokens", "256Ki", Origin::file, "s.yaml:3", true);
    expect("training.remat", "none", Origin::option, "--set training.remat=none", true);
    expect("training.moments", "fp32", Origin::fallback, "default", true);
    expect("hardware.chip.bf16_flops", "459 TFLOP/s", Origin::catalogue,
           "How to Scale Your Model, section 2", false);
    expect("hardware.chip.pod", "16x20x28", Origin::catalogue, "How to Scale Your Model, section 2",
           false);
    expect("hardware.profile", "measured", Origin::rule,
           "default: measured where the chip was, also of one that the scenario changes", true);
    expect("hardware.profile.attention", "0.742", Origin::catalogue, "profile measured@11", false);
    expect("name", "s", Origin::fallback, "default: the file's name", true);
    EXPECT_EQ(key_of(shown, "model.layers").value, "32");
    // This may not be written: bf16 matmuls have no scales.
    expect("training.scaling", "dynamic", Origin::fallback, "default", false);
    EXPECT_THAT(shown.text, ::testing::Not(HasSubstr("scaling")));
}

TEST_F(Show, SaysWhatTheRuntimeKeepsOfTheMemory) {
    const auto shown_of = [&](const std::string& chip) {
        return show_scenario(write(good_but("chip: v5p", "chip: " + chip)), {});
    };
    const ShownScenario plain = shown_of("v4p");
    EXPECT_EQ(key_of(plain, "hardware.chip.hbm_reserved").value, "1280 MiB");
    EXPECT_EQ(key_of(plain, "hardware.chip.hbm_reserved").origin, Origin::catalogue);
    EXPECT_THAT(plain.text, HasSubstr("# hbm_reserved: 1280 MiB "));
    EXPECT_THAT(plain.text, HasSubstr("# XLA's messages on memory that ran out"));
    const ShownScenario all = shown_of("{base: v5p, hbm_capacity: 96 GB}");
    EXPECT_EQ(key_of(all, "hardware.chip.hbm_reserved").value, "0 B");
    EXPECT_EQ(key_of(all, "hardware.chip.hbm_reserved").from,
              "hbm_capacity of the scenario is all for programs");
    const ShownScenario said = shown_of("{base: v5p, hbm_reserved: 2 GiB}");
    EXPECT_EQ(key_of(said, "hardware.chip.hbm_reserved").origin, Origin::file);
    EXPECT_THAT(said.text, HasSubstr("    hbm_reserved: 2 GiB "));
}

TEST_F(Show, SizesSayWhereTheyLie) {
    const std::string file = write(good_but("{fsdp: x y z}", "{fsdp: 16, tensor: 4}"));
    const ShownScenario shown = show_scenario(file, {});
    EXPECT_EQ(key_of(shown, "mesh.fsdp").value, "16");
    EXPECT_EQ(key_of(shown, "mesh.fsdp").comes_to, shown.scenario.step().mesh_axes[0]);
    EXPECT_THAT(shown.text, HasSubstr("# s.yaml:4, comes to "));
}

TEST_F(Show, MeshThatIsLeftOut) {
    const std::string file = write(good_but("mesh: {fsdp: x y z}\n", ""));
    const ShownScenario shown = show_scenario(file, {});
    EXPECT_EQ(key_of(shown, "mesh.fsdp").value, "x y z");
    EXPECT_EQ(key_of(shown, "mesh.fsdp").origin, Origin::rule);
    EXPECT_THAT(shown.text, HasSubstr("\nmesh:\n  fsdp: x y z "));
}

/// A dense model leaves out values that a model with experts has: a written default must not change
/// the meaning.
TEST_F(Show, DefaultsThatSayingWouldChangeStayOut) {
    const std::string file = write(good_but("llama-3-8b", "mixtral-8x7b"));
    const ShownScenario shown = show_scenario(file, {});
    EXPECT_FALSE(key_of(shown, "training.capacity_factor").written);
    EXPECT_EQ(key_of(shown, "training.moe.matmul").value, "sparse");
    EXPECT_EQ(key_of(shown, "model.experts.count").value, "8");
}

TEST_F(Show, ListsOfMaps) {
    const std::string file =
        write(std::string(kGood) + "perturb: [{kind: slow_chips, x: 3, factor: 1.1}]\n");
    const ShownScenario shown = show_scenario(file, {});
    EXPECT_EQ(key_of(shown, "perturb[0].kind").value, "slow_chips");
    EXPECT_THAT(shown.text, HasSubstr("\nperturb:\n  - kind: slow_chips "));
    EXPECT_EQ(reloaded(shown).hardware.perturbations.size(), 1U);
}

/// The Reader ensures that every key that a loaded scenario was asked for is in the schema; all
/// shown names are keys.
TEST_F(Show, JsonHasEveryKey) {
    const Outcome outcome = podsim({"show", write(kGood), "--json", "-"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["kind"], "show");
    EXPECT_EQ(json["schema"], "podsim/2");
    EXPECT_GT(json["keys"].size(), 60U);
    const Outcome refused = podsim({"show", write("model: [", "bad.yaml")});
    EXPECT_EQ(refused.status, 2);
}

}  // namespace
}  // namespace podsim::scenarios
