// Drawn loads of experts: the numbers, their distribution, and steps with them.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/read_experts.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ExpertDrawFile = CommandTest;

// One expert per rank: logarithms of 20,000 loads have mean 0 and deviation 0.5, within about four
// standard errors. Less than 0.5 % exceed 1.4 = 2.8 deviations, as in a normal distribution.
TEST(ExpertDraw, IsLognormal) {
    constexpr int kExperts = 20000;
    double sum = 0;
    double squares = 0;
    int far = 0;
    for (const double share : drawn_shares(0.5, 11, kExperts, kExperts)) {
        const double logarithm = std::log(share);
        sum += logarithm;
        squares += logarithm * logarithm;
        far += std::abs(logarithm) > 1.4 ? 1 : 0;
    }
    EXPECT_NEAR(sum / kExperts, 0, 0.014);
    EXPECT_NEAR(std::sqrt(squares / kExperts), 0.5, 0.01);
    EXPECT_GT(far, kExperts * 3 / 1000);
    EXPECT_LT(far, kExperts * 7 / 1000);
}

// A rank has the sum of its experts, whose numbers depend only on the seed and their own index.
TEST(ExpertDraw, RanksHaveTheSumOfTheirExperts) {
    const std::vector<double> experts = drawn_shares(1, 7, 256, 256);
    const std::vector<double> ranks = drawn_shares(1, 7, 256, 64);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        EXPECT_EQ(ranks[rank],
                  std::accumulate(experts.begin() + static_cast<long>(4 * rank),
                                  experts.begin() + static_cast<long>(4 * rank + 4), 0.0));
    }
    const std::vector<double> fewer = drawn_shares(1, 7, 64, 64);
    EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), experts.begin()));
    EXPECT_NE(drawn_shares(1, 8, 64, 64), fewer);
    EXPECT_EQ(drawn_shares(0, 7, 8, 4), (std::vector<double>{2, 2, 2, 2}));
}

constexpr const char* kDrawnExperts =
    "hardware: {chip: v5p, slice: 4x4x4}\nmodel: mixtral-8x7b\n"
    "batch: {tokens: 1Mi, sequence: 4096}\nmesh: {fsdp: x y, expert: z}\ntraining: ";
constexpr const char* kDrawn =
    "{expert_imbalance: {distribution: lognormal, spread: 50 %, seed: 1}}\n";

// SplitMix64 and exp, computed once by other means, to the last digits.
TEST_F(ExpertDrawFile, LoadsAreThoseOfTheSeed) {
    const Scenario scenario = load_scenario(write(std::string(kDrawnExperts) + kDrawn));
    const std::vector<double> expected{0.7138381520810468, 1.02870995713575, 1.1467329992223525,
                                       1.110718891560851};
    ASSERT_EQ(scenario.step().plan.experts.loads.size(), expected.size());
    for (std::size_t rank = 0; rank < expected.size(); ++rank) {
        EXPECT_NEAR(scenario.step().plan.experts.loads[rank], expected[rank], 1e-14);
    }
}

// The report has the list, and the step is that of the list.
TEST_F(ExpertDrawFile, StepsAreThoseOfTheListInTheReport) {
    const std::string file = write(std::string(kDrawnExperts) + kDrawn);
    const Outcome run = podsim({"run", file});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, ::testing::HasSubstr("  tokens of expert's ranks over the mean: 0.714, "
                                              "1.029, 1.147, 1.111\n"));
    const Json json = Json::parse(podsim({"run", file, "--json", "-"}).out);
    const Json loads = json["imbalance"]["expert_loads"];
    ASSERT_EQ(loads.size(), 4U);
    const std::string listed =
        write(std::string(kDrawnExperts) + "{expert_imbalance: " + loads.dump() + "}\n");
    const Json same = Json::parse(podsim({"run", listed, "--json", "-"}).out);
    EXPECT_EQ(same["step_time_s"], json["step_time_s"]);
    const Scenario scenario = load_scenario(file);
    const StepResult folded = simulate_step(scenario, Fold::automatic);
    const StepResult whole = simulate_step(scenario, Fold::off);
    EXPECT_EQ(folded.step_time, whole.step_time);
    EXPECT_EQ(folded.step_time,
              simulate_step(scenario, Fold::automatic, {.reuse = false}).step_time);
}

TEST_F(ExpertDrawFile, SaysWhatIsWrong) {
    const auto error = [&](const std::string& map) {
        const Outcome outcome = podsim(
            {"run", write(std::string(kDrawnExperts) + "{expert_imbalance: " + map + "}\n")});
        EXPECT_EQ(outcome.status, 2);
        return outcome.err.substr(outcome.err.find(".yaml:") + 6);
    };
    EXPECT_EQ(
        error("{distribution: dirichlet, spread: 50 %}"),
        "5:45: unknown training.expert_imbalance.distribution 'dirichlet'; allowed: lognormal\n");
    EXPECT_EQ(error("{distribution: lognormal, spread: 1001 %}"),
              "5:64: training.expert_imbalance.spread: a spread of '1001 %' is above 1000 %; write "
              "the deviation of the logarithms of experts' tokens, as in 50 %\n");
    EXPECT_THAT(error("{distribution: lognormal}"),
                ::testing::HasSubstr("training.expert_imbalance.spread"));
    EXPECT_THAT(error("{spread: 50 %}"),
                ::testing::HasSubstr("training.expert_imbalance.distribution"));
    const Outcome dense = podsim(
        {"run", write("hardware: {chip: v5p, slice: 4x4x4}\nmodel: llama-3-8b\n"
                      "batch: {tokens: 1Mi, sequence: 4096}\nmesh: {fsdp: x y z}\ntraining: " +
                      std::string(kDrawn))});
    EXPECT_EQ(dense.status, 2);
    EXPECT_THAT(dense.err,
                ::testing::HasSubstr("expert_imbalance of llama-3-8b, which has no experts"));
}

}  // namespace
}  // namespace podsim::scenarios
