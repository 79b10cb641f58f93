// `podsim init`: a first scenario of every chip and every model.
#include <filesystem>
#include <gmock/gmock.h>

#include "scenarios/src/cli/guide.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "topology/chips/chip.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

using Init = CommandTest;

sim::Time step_of(const std::string& text) {
    const Scenario scenario = load_scenario(handed_over("", "draft.yaml", text, true));
    return simulate_step(scenario, Fold::automatic, {.explain = false}).step_time;
}

TEST_F(Init, EveryChipRunsASmallModelOnAHost) {
    for (const topology::ChipSpec& chip : topology::chip_catalogue()) {
        SCOPED_TRACE(chip.name);
        const Draft draft = draft_scenario(std::string(chip.name), "", "gemma-7b");
        EXPECT_GT(step_of(draft.text).ps, 0);
    }
}

TEST_F(Init, EveryModelLoadsAndRunsOnASlice) {
    for (const workloads::ModelSpec& model : workloads::model_catalogue()) {
        SCOPED_TRACE(model.name);
        const Draft draft = draft_scenario("v5p", "8x8x8", std::string(model.name));
        EXPECT_GT(step_of(draft.text).ps, 0);
    }
}

TEST_F(Init, WritesAFileThatRuns) {
    const std::string file = path("first.yaml");
    const Outcome written = podsim(
        {"init", "--chip", "v5p", "--slice", "8x8x8", "--model", "llama-3-70b", "--write", file});
    EXPECT_EQ(written.status, 0) << written.err;
    EXPECT_EQ(written.err, "");
    EXPECT_EQ(podsim({"check", file, "--fail-if-not-fit"}).status, 0);
    const Outcome unknown = podsim({"init", "--chip", "v5q", "--model", "llama-3-70b"});
    EXPECT_EQ(unknown.status, 2);
}

TEST_F(Init, ASliceMayNameItsChip) {
    const Outcome named = podsim({"init", "--slice", "v5p-16", "--model", "gemma-2b"});
    ASSERT_EQ(named.status, 0) << named.err;
    EXPECT_THAT(named.out,
                HasSubstr("\nname: gemma-2b on v5p-16\nhardware:\n  slice: v5p-16        "
                          "# v5p-16: 16 cores, 8 chips, 2x2x2 "));
    const Scenario scenario = load_scenario(handed_over("", "draft.yaml", named.out, true));
    EXPECT_EQ(scenario.hardware.chip.name, "v5p");
    EXPECT_EQ(scenario.hardware.chips(), 8);
    // Its chip beside it adds nothing.
    EXPECT_EQ(podsim({"init", "--slice", "v5p-16", "--chip", "v5p", "--model", "gemma-2b"}).out,
              named.out);
    const auto refused = [&](const std::vector<std::string>& more, const std::string& message) {
        std::vector<std::string> args{"init", "--model", "gemma-2b"};
        args.insert(args.end(), more.begin(), more.end());
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(outcome.err, message + '\n');
    };
    refused({"--slice", "v5p-16", "--chip", "v4"},
            "--slice v5p-16: 'v5p-16' is a slice of v5p, not of v4p; leave the chip out, or write "
            "a shape");
    refused({"--slice", "4x4x4"},
            "podsim init: --chip is missing; write podsim init --chip v5p --model llama-3-8b, or "
            "--slice v5p-16 in place of the chip");
    EXPECT_EQ(podsim({"init"}).err,
              "podsim init: --chip and --model are missing; write podsim init --chip v5p --model "
              "llama-3-8b, or --slice v5p-16 in place of the chip\n");
    EXPECT_EQ(podsim({"init", "--slice", "v5p-16", "--write", path("first.yaml")}).err,
              "podsim init: --model is missing; write podsim init --chip v5p --model llama-3-8b\n");
    refused({"--slice", "v5p-17"},
            "--slice v5p-17: no slice is called v5p-17: 17 is no number of cores (two a chip) that "
            "v5p offers; nearest: v5p-16 (2x2x2), or write a shape such as 16x20x28");
}

// The config is named relative to the scenario's folder, wherever the command runs.
TEST_F(Init, TakesAHuggingFaceConfig) {
    const std::string config = source_folder() + "/tests/workloads/configs/qwen3-8b.json";
    std::filesystem::create_directories(path("model"));
    std::filesystem::copy_file(config, path("model/config.json"));
    const std::string file = path("first.yaml");
    const Outcome written = podsim(
        {"init", "--slice", "v5p-16", "--model", path("model/config.json"), "--write", file});
    ASSERT_EQ(written.status, 0) << written.err;
    const Scenario scenario = load_scenario(file);
    EXPECT_EQ(scenario.name, "model on v5p-16");
    EXPECT_EQ(count_parameters(scenario.step().model).total, 8'190'735'360);
    const Outcome lost = podsim({"init", "--slice", "v5p-16", "--model", path("model/config.json"),
                                 "--write", path("model/config.json")});
    EXPECT_EQ(lost.status, 2);
    EXPECT_THAT(lost.err, HasSubstr("the command reads this file, and would overwrite it"));
    EXPECT_EQ(podsim({"init", "--slice", "v5p-16", "--model", "absent.json"}).err,
              "absent.json: cannot read the file: No such file or directory; name a model's "
              "config.json\n");
}

}  // namespace
}  // namespace podsim::scenarios
