// Profiles in scenarios, and the calibration that fits them.
#include "scenarios/study/calibrate.h"

#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>

#include "scenarios/load/load.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/text/json_text.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

class Profile : public CommandTest {
protected:
    [[nodiscard]] Scenario load(const std::string& hardware) const {
        return load_scenario(write("hardware: {" + hardware +
                                   "}\n"
                                   "model: llama-3-8b\n"
                                   "batch: {tokens: 128Ki, sequence: 4096}\n"));
    }
};

TEST_F(Profile, IsTheMeasuredOneWhereTheChipWasMeasured) {
    EXPECT_EQ(load("chip: v5p, slice: 2x2x2").hardware.profile, "measured");
    EXPECT_EQ(load("chip: v5p, slice: 2x2x2").hardware.efficiency,
              *topology::measured_efficiency("v5p"));
    // A chip that the scenario changes was not measured, unless it says so.
    const std::string changed = "chip: {base: v5p, hbm_capacity: 1 TB}, slice: 2x2x2";
    EXPECT_EQ(load(changed).hardware.efficiency, topology::Efficiency{});
    EXPECT_EQ(load("chip: v5p, slice: 2x2x2, profile: ideal").hardware.efficiency,
              topology::Efficiency{});
    EXPECT_EQ(load("chip: v3, slice: 4x4").hardware.profile, "ideal");
    expect_refused(
        good_but("chip: v5p, slice: 4x4x4", "chip: v3, slice: 4x4, profile: measured"),
        "s.yaml:1:43: hardware.profile: nothing was measured on v3; write profile: "
        "ideal, or take the factors of a chip that was measured, such as profile: {base: "
        "v5p}");
}

// A map is a chip of its own: it took the factors of its base without a word, even under the name of another chip.
TEST_F(Profile, AChangedChipSaysWhoseFactorsItTakes) {
    const auto refused = [&](const std::string& chip, const std::string& name,
                             const std::string& base, int column) {
        expect_refused(
            good_but("chip: v5p, slice:", "chip: {" + chip + "}, profile: measured, slice:"),
            fmt::format("s.yaml:1:{}: hardware.profile: nothing was measured on {}; write "
                        "profile: ideal, or take the factors of a chip that was "
                        "measured, such as profile: {{base: {}}}",
                        column, name, base));
    };
    refused("base: v5p", "v5p (modified)", "v5p", 40);
    refused("base: v5p, name: v6e", "v6e", "v5p", 51);
    refused("base: v5p, name: mine", "mine", "v5p", 52);
    refused("base: tpu7x, name: v5p", "v5p", "v5p", 53);
    refused("base: tpu7x, name: tpu7x", "tpu7x", "v5p", 55);
    const std::string same = "chip: {base: v5p, name: v5p, hbm_capacity: 1 TB}, slice: 2x2x2, ";
    EXPECT_EQ(load(same + "profile: measured").hardware.efficiency,
              *topology::measured_efficiency("v5p"));
    const Scenario scenario =
        load("chip: {base: tpu7x, name: v5p}, slice: 2x2x2, profile: {base: v6e}");
    EXPECT_EQ(scenario.hardware.efficiency, *topology::measured_efficiency("v6e"));
    EXPECT_EQ(scenario.hardware.profile, "measured on v6e");
}

// Any factor in place of the base's, and nothing else.
TEST_F(Profile, FactorsAreSetInTheScenario) {
    const auto with = [&](const std::string& profile) {
        return load("chip: v5p, slice: 2x2x2, profile: " + profile).hardware;
    };
    EXPECT_EQ(with("{base: ideal}").efficiency, topology::Efficiency{});
    EXPECT_EQ(with("{base: ideal}").profile, "ideal");
    for (const topology::EfficiencyFactor& factor : topology::efficiency_factors()) {
        for (const double value : {factor.least, (factor.least + factor.most) / 2, factor.most}) {
            topology::Efficiency expected = *topology::measured_efficiency("v4p");
            expected.*(factor.value) = value;
            const Hardware& hardware =
                with(fmt::format("{{base: v4p, {}: {}}}", factor.name, value));
            EXPECT_EQ(hardware.efficiency, expected) << factor.name;
            EXPECT_EQ(hardware.profile,
                      fmt::format("measured on v4p with {} {}", factor.name, value));
        }
    }
    const IdealHardware two = with("{straggler: 0.1, base: ideal, mxu: 0.8}");
    EXPECT_EQ(two.efficiency.mxu, 0.8);
    EXPECT_EQ(two.efficiency.straggler, 0.1);
    EXPECT_EQ(two.profile, "ideal with mxu 0.8 and straggler 0.1");
}

TEST_F(Profile, WrongFactors) {
    const auto refused = [&](const std::string& profile, const std::string& message) {
        expect_refused(good_but("slice:", "profile: " + profile + ", slice:"), message);
    };
    refused("{mxu: 0.8}",
            "s.yaml:1:32: missing key 'hardware.profile.base'; write base: v5p (the measured chip "
            "whose factors the other keys change, or ideal)");
    refused("{base: v3}",
            "s.yaml:1:39: hardware.profile.base: nothing was measured on v3; allowed: ideal, v4p, "
            "v5p, v5e, v6e");
    refused("{base: v7}",
            "s.yaml:1:39: hardware.profile.base: unknown chip 'v7'; allowed: ideal, v4p, v5p, v5e, "
            "v6e");
    refused("{base: v5p, atention: 0.4}",
            "s.yaml:1:44: unknown hardware.profile key 'atention'; did you mean 'attention'? "
            "allowed: base, mxu, mxu_ramp, attention, vpu, hbm, fusion, ici, dcn, launch_s, "
            "straggler");
    refused("{base: v5p, mxu: 1.01}",
            "s.yaml:1:49: hardware.profile.mxu: '1.01' is out of range; allowed are 0.05 to 1");
    refused("{base: v5p, dcn: 0}",
            "s.yaml:1:49: hardware.profile.dcn: '0' is out of range; allowed are 0.02 to 1");
    refused("{base: v5p, launch_s: 2 us}",
            "s.yaml:1:54: hardware.profile.launch_s: '2 us' has the unknown unit 'us'; write a "
            "number such as 13.9 or 70.4G; units: k, M, G, T, Ki, Mi, Gi, Ti");
}

// The report and JSON name the base and what was changed.
TEST_F(Profile, ReportsNameItsBaseAndItsFactors) {
    const std::string file = write(good_but("slice:", "profile: {base: v6e, ici: 0.7}, slice:"));
    EXPECT_THAT(podsim({"run", file, "--fold", "auto"}).out,
                ::testing::HasSubstr("Assumed: profile measured on v6e with ici 0.7, book ICI"));
    EXPECT_THAT(podsim({"run", file, "--json", "-"}).out,
                ::testing::HasSubstr("\"profile\": \"measured on v6e with ici 0.7\""));
}

// What the profile takes is itemised before the ideal step's own terms, and the estimates stay ideal.
TEST_F(Profile, CostsAreTermsOfTheGap) {
    Scenario measured = load("chip: v5p, slice: 4x4x4, slices: 2");
    const StepResult with = simulate_step(measured, Fold::automatic);
    Scenario ideal = measured;
    ideal.hardware.efficiency = {};
    const StepResult without = simulate_step(ideal, Fold::automatic);
    EXPECT_EQ(with.lower.time, without.lower.time);
    EXPECT_EQ(with.serial, without.serial);
    EXPECT_EQ(with.book, without.book);
    EXPECT_EQ(testing::sum(with.gap).ps - testing::sum(without.gap).ps,
              with.step_time.ps - without.step_time.ps);
    for (const char* name : {"stragglers", "kernels below peak"}) {
        EXPECT_TRUE(std::ranges::any_of(with.gap, [&](const Share& share) {
            return share.name == name && share.time.ps > 0;
        })) << name;
    }
    EXPECT_EQ(testing::sum(with.critical_path), with.step_time);
    EXPECT_EQ(simulate_step(measured, Fold::off).step_time, with.step_time);
}

// Four slices are two doublings: compute takes 1 + 2 s as long, each operation rounded up once, where none waits for
// messages.
TEST_F(Profile, SlowestSliceSetsThePace) {
    Scenario scenario = load("chip: v5p, slice: 2x2x2, slices: 4, profile: ideal, hbm: private");
    const StepResult even = simulate_step(scenario, Fold::automatic);
    scenario.hardware.efficiency.straggler = 0.05;
    const StepResult slow = simulate_step(scenario, Fold::automatic);
    EXPECT_NEAR(static_cast<double>(slow.compute.ps), 1.1 * static_cast<double>(even.compute.ps),
                static_cast<double>(even.spans.size()));
}

// A block is so many steps of each kind, one after the other.
TEST_F(Profile, BlocksAddTrainingAndEvaluationSteps) {
    const std::string text =
        std::string(kGood) + "evaluation: {tokens: 64Ki, steps: 5, train_steps: 3}\n";
    const StepResult block = simulate_step(load_scenario(write(text)), Fold::automatic);
    const StepResult train = simulate_step(load_scenario(write(kGood)), Fold::automatic);
    const StepResult evaluation = simulate_step(
        load_scenario(write(kGood),
                      std::vector<std::string>{"training.step=evaluate", "batch.tokens=64Ki"}),
        Fold::automatic);
    EXPECT_EQ(block.step_time, train.step_time);
    EXPECT_EQ(block.evaluation, evaluation.step_time);
    EXPECT_EQ(block.block, train.step_time * 3 + evaluation.step_time * 5);
    expect_refused(
        std::string(kGood) + "expect: {block_time: {of: 1 s, within: 9 %}}\n",
        "s.yaml:5:22: expect.block_time: there are no blocks without evaluation steps; write "
        "evaluation: {tokens: 1Mi, steps: 48}");
}

/// Measurements made by simulation with known factors.
std::vector<Scenario> measured_with(const std::vector<std::pair<std::string, double>>& mxu,
                                    double straggler) {
    std::vector<Scenario> scenarios;
    for (const auto& [chip, share] : mxu) {
        for (const int slices : {1, 4}) {
            Scenario scenario = testing::make_scenario(chip, {4, 4, 1}, testing::small_model(4),
                                                       {{"fsdp", "x y"}}, 64, 512);
            scenario.step().plan.remat.policy = workloads::RematPolicy::block;
            if (slices > 1) {
                scenario.hardware.slices = slices;
                scenario.step().mesh = topology::DeviceMesh(
                    scenario.hardware.slice,
                    {{"data", topology::parse_factors("slice", scenario.hardware.slice, slices)},
                     {"fsdp", topology::parse_factors("x y", scenario.hardware.slice, slices)}},
                    slices);
                scenario.step().plan.ways.data = slices;
                scenario.step().plan.batch.tokens *= slices;
            }
            scenario.hardware.efficiency = {.mxu = share, .straggler = straggler};
            const double time = simulated_reference(scenario);
            scenario.name = chip + (slices > 1 ? " slices" : "");
            scenario.expectations = {{"step_time", time, 0.1, "simulated"}};
            scenario.hardware.efficiency = {.mxu = 0.8, .straggler = 0.1};
            scenarios.push_back(std::move(scenario));
        }
    }
    return scenarios;
}

TEST(Calibrate, FindsTheFactorsThatMadeTheMeasurements) {
    const std::vector<Scenario> scenarios = measured_with({{"v4p", 0.6}, {"v5e", 0.7}}, 0.05);
    const Calibration calibration =
        calibrate(scenarios, {.per_chip = {"mxu"}, .pooled = {"straggler"}, .jobs = 2});
    ASSERT_EQ(calibration.factors.size(), 3U);
    EXPECT_EQ(calibration.factors[0].chip, "v4p");
    EXPECT_NEAR(calibration.factors[0].value, 0.6, 0.01);
    EXPECT_NEAR(calibration.factors[1].value, 0.7, 0.01);
    EXPECT_NEAR(calibration.factors[2].value, 0.05, 0.005);
    for (const FittedFactor& factor : calibration.factors) {
        EXPECT_TRUE(factor.determined) << factor.factor;
    }
    // Fitted, each is met; held out, v4p is predicted with the share of v5e, v5e with that of v4p, both with the pooled
    // straggler's.
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
        const CalibratedPoint& point = calibration.points[i];
        EXPECT_NEAR(point.fitted_s / point.measured_s, 1, 0.01) << point.name;
        ASSERT_TRUE(point.held_out_s.has_value());
        Scenario other = scenarios[i];
        other.hardware.efficiency = {.mxu = point.chip == "v4p" ? 0.7 : 0.6, .straggler = 0.05};
        EXPECT_NEAR(*point.held_out_s / simulated_reference(other), 1, 0.01) << point.name;
    }
}

TEST(Calibrate, SaysWhatTheMeasurementsDoNotDetermine) {
    std::vector<Scenario> scenarios = measured_with({{"v4p", 0.6}, {"v5e", 0.7}}, 0);
    std::erase_if(scenarios, [](const Scenario& one) { return one.hardware.slices > 1; });
    const Calibration calibration =
        calibrate(scenarios, {.per_chip = {"mxu"}, .pooled = {"straggler"}, .jobs = 1});
    EXPECT_TRUE(calibration.factors[0].determined);
    EXPECT_EQ(calibration.factors[2].factor, "straggler");
    EXPECT_FALSE(calibration.factors[2].determined);
}

TEST(Calibrate, HoldsNothingOutWithoutAnotherChip) {
    const std::vector<Scenario> scenarios = measured_with({{"v4p", 0.6}}, 0);
    const Calibration calibration = calibrate(scenarios, {});
    EXPECT_FALSE(calibration.points.front().held_out_s.has_value());
}

TEST(Calibrate, SummarisesErrors) {
    const ErrorSummary summary = summarise(std::vector<double>{0.1, -0.2, 0.04});
    EXPECT_NEAR(summary.mean_absolute, 0.34 / 3, 1e-15);
    EXPECT_NEAR(summary.bias, -0.02, 1e-15);
    EXPECT_EQ(summary.worst, -0.2);
}

// The summary is over the points of all chips, in the table's words and in JSON.
TEST_F(Profile, CalibrateSumsUpTheErrorsOfAllPoints) {
    write(std::string(kGood) + "expect: {step_time: {of: 1 ms, within: 9 %}}\n", "a.yaml");
    write(good_but("v5p", "v4p") + "expect: {step_time: {of: 3 ms, within: 9 %}}\n", "b.yaml");
    const Outcome both = podsim({"calibrate", path("a.yaml"), path("b.yaml"), "--per-chip", "-",
                                 "--pooled", "mxu", "--json", path("c.json")});
    ASSERT_EQ(both.status, 0) << both.err;
    const Json json = Json::parse(std::ifstream(path("c.json")));
    ASSERT_EQ(json["points"].size(), 2U);
    double errors = 0;
    for (const Json& point : json["points"]) {
        errors += std::abs(point["fitted_s"].get<double>() / point["measured_s"].get<double>() - 1);
    }
    EXPECT_DOUBLE_EQ(json["mean_absolute_error"].get<double>(), errors / 2);
    EXPECT_GT(errors, 0);
    EXPECT_THAT(both.out,
                HasSubstr(fmt::format("fitted: mean absolute error {:.1f} %", 100 * errors / 2)));
    EXPECT_THAT(both.out, HasSubstr("held out: mean absolute error"));
}

TEST_F(Profile, CalibrateRefusesWhatItCannotUse) {
    const Outcome none = podsim({"calibrate", write(kGood)});
    EXPECT_EQ(none.status, 2);
    EXPECT_EQ(
        plain(none.err),
        "s.yaml: a measurement is a scenario that expects one time; write expect: {step_time: "
        "{of: 3.4 s, within: 20 %}}\n");
    const Outcome unknown = podsim(
        {"calibrate", write(std::string(kGood) + "expect: {step_time: {of: 1 s, within: 9 %}}\n"),
         "--pooled", "stragler"});
    EXPECT_EQ(unknown.status, 2);
    const Outcome twice = podsim({"calibrate", path("s.yaml"), "--pooled", "mxu"});
    EXPECT_EQ(plain(twice.err),
              "podsim calibrate: factor 'mxu' is named twice; fit it for each chip or for all\n");
    EXPECT_THAT(unknown.err, HasSubstr("unknown factor 'stragler'; did you mean 'straggler'?"));
}

}  // namespace
}  // namespace podsim::scenarios
