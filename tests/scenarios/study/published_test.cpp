// The published steps beyond their times: the fall of MFU with the number of slices, and the fit
// in memory.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/checkout.h"

namespace podsim::scenarios {
namespace {

const std::filesystem::path kPublished =
    std::filesystem::path(source_folder()) / "scenarios/published";

StepResult simulated(const std::filesystem::path& file) {
    return simulate_step(load_scenario(file.string()), Fold::automatic, {.explain = false});
}

// MaxText on v5e, October 2023: 16B on 1, 4, 16 slices and 64B on 1, 8, 32.
TEST(Published, MfuFallsWithTheSlicesWithinThreePoints) {
    const std::map<std::string, double> published{{"16b-1x", 0.6110},  {"16b-4x", 0.5914},
                                                  {"16b-16x", 0.5656}, {"64b-1x", 0.5990},
                                                  {"64b-8x", 0.5496},  {"64b-32x", 0.5018}};
    std::map<std::string, double> found;
    for (const auto& [name, mfu] : published) {
        found[name] = simulated(kPublished / "maxtext-v5e" / ("maxtext-v5e-" + name + ".yaml")).mfu;
        EXPECT_NEAR(found[name], mfu, 0.03) << name;
    }
    EXPECT_GT(found["16b-1x"], found["16b-4x"]);
    EXPECT_GT(found["16b-4x"], found["16b-16x"]);
    EXPECT_GT(found["64b-1x"], found["64b-8x"]);
    EXPECT_GT(found["64b-8x"], found["64b-32x"]);
}

// They ran, so each fits, or is tight.
TEST(Published, AllStepsFitOrAreTight) {
    std::vector<std::string> tight;
    int steps = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(kPublished)) {
        const bool program = file.path().parent_path().filename() == "microbenchmarks";
        const bool inference = file.path().parent_path().parent_path().filename() == "inference";
        if (!file.is_regular_file() || program || inference) {
            continue;
        }
        // Its slice has no wrapped axis to fold along: a quarter of a minute for a peak that its
        // neighbours bracket.
        if (file.path().stem() == "recipe-llama3.1-70b-v6e-64") {
            continue;
        }
        ++steps;
        const StepResult result = simulated(file.path());
        EXPECT_TRUE(result.memory.fits || result.memory.tight) << file.path();
        if (result.memory.tight) {
            tight.push_back(file.path().stem().string());
        }
    }
    EXPECT_EQ(steps, 82);
    EXPECT_THAT(tight, ::testing::UnorderedElementsAre(
                           "recipe-gpt3-175b-bf16-v6e-256", "recipe-gpt3-175b-int8-v6e-256",
                           "recipe-llama3.1-405b-v5p-1024", "recipe-llama3.1-70b-v6e-256",
                           "hunyuan3-295b-v5p-256-default", "hunyuan3-295b-v5p-256-tile-512",
                           "hunyuan3-295b-tpu7x-256-data2-16"));
}

// Twice the tokens per chip and nothing recomputed: that would not have run.
TEST(Published, TwiceTheTokensWithoutRematDoNotFit) {
    for (const char* const name :
         {"maxtext-v5e/maxtext-v5e-16b-1x", "maxtext-v5p/maxtext-v5p-512b-1x-v5p-1024",
          "recipes-v6e-gpt3/recipe-gpt3-175b-bf16-v6e-256",
          "recipes-v6e-llama3.1/recipe-llama3.1-8b-v6e-8",
          "recipes-v5p-llama3.1/recipe-llama3.1-405b-v5p-1024"}) {
        Scenario scenario = load_scenario((kPublished / (std::string(name) + ".yaml")).string());
        scenario.step().plan.batch.tokens *= 2;
        scenario.step().plan.remat = {workloads::RematPolicy::none};
        const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
        EXPECT_FALSE(result.memory.fits || result.memory.tight) << name;
    }
}

}  // namespace
}  // namespace podsim::scenarios
