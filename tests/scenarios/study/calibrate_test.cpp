// The calibration: it recovers known factors, and held-out predictions are as defined.
#include "scenarios/src/study/calibrate.h"

#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/report/error_summary.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/study/calibration_report.h"
#include "scenarios/src/study/fit.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

class CalibrateCommand : public CommandTest {};

/// Returns measurements made by simulation with known factors.
std::vector<Scenario> measured_with(const std::vector<std::pair<std::string, double>>& mxu,
                                    double straggler) {
    std::vector<Scenario> scenarios;
    for (const auto& [chip, share] : mxu) {
        for (const int slices : {1, 64}) {
            Scenario scenario = samples::make_scenario(chip, {4, 4, 1}, samples::small_model(4),
                                                       {{"fsdp", "x y"}}, 2048, 512);
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
            scenario.file = chip + (slices > 1 ? " many/s.yaml" : " one/s.yaml");
            scenario.expectations = {{"step_time", time, 0.1, "simulated", "", ""}};
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
    EXPECT_TRUE(calibration.converged);
    EXPECT_EQ(calibration.factors[0].chip, "v4p");
    // The pull to the priors (0.85, 0.02) costs (0.85 / 0.6 -> 2.3 deviations) / (1 + 18), and
    // slightly more with straggler: 3 %.
    EXPECT_NEAR(calibration.factors[0].value, 0.6, 0.025);
    EXPECT_NEAR(calibration.factors[1].value, 0.7, 0.02);
    EXPECT_NEAR(calibration.factors[2].value, 0.05, 0.02);
    for (const FittedFactor& factor : calibration.factors) {
        EXPECT_TRUE(factor.determined) << factor.factor;
        EXPECT_EQ(factor.by, "steps");
        // The scenarios' own profile (0.8 and 0.1) leads to the same.
        ASSERT_TRUE(factor.other_start.has_value());
        EXPECT_NEAR(*factor.other_start / factor.value, 1, 0.01) << factor.factor;
    }
    // Held out by chip, v4p is predicted with the MXU factor of v5e, v5e with that of v4p, both
    // with the pooled straggler's.
    const double straggler = calibration.factors[2].value;
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
        const CalibratedPoint& point = calibration.points[i];
        EXPECT_NEAR(point.podsim.fitted_s / point.measured_s, 1, 0.04) << point.name;
        ASSERT_TRUE(point.podsim.without_chip_s.has_value());
        Scenario other = scenarios[i];
        other.hardware.efficiency = {.mxu = calibration.factors[point.chip == "v4p" ? 1 : 0].value,
                                     .straggler = straggler};
        EXPECT_NEAR(*point.podsim.without_chip_s / simulated_reference(other), 1, 0.06)
            << point.name;
        ASSERT_TRUE(point.podsim.without_family_s.has_value());
        EXPECT_EQ(point.family, point.chip + (scenarios[i].hardware.slices > 1 ? " many" : " one"));
    }
    EXPECT_EQ(calibration.pairs.pairs,
              2);  // one of each chip: slices take longer for the same tokens a chip
    EXPECT_EQ(calibration.pairs.right, 2);
    EXPECT_EQ(calibration.pairs_per_chip.pairs, 2);
    ASSERT_EQ(calibration.profile.chips.size(), 2U);
    EXPECT_EQ(calibration.profile.chips.at("v5e").mxu, calibration.factors[1].value);
    EXPECT_EQ(calibration.profile.chips.at("v5e").straggler, straggler);
}

// One slice does not determine stragglers: the factor stays at its prior, from any start.
TEST(Calibrate, LeavesAtItsPriorWhatTheStepsDoNotDetermine) {
    std::vector<Scenario> scenarios = measured_with({{"v4p", 0.6}, {"v5e", 0.7}}, 0);
    std::erase_if(scenarios, [](const Scenario& one) { return one.hardware.slices > 1; });
    const Calibration calibration =
        calibrate(scenarios, {.per_chip = {"mxu"}, .pooled = {"straggler"}, .jobs = 1});
    EXPECT_TRUE(calibration.factors[0].determined);
    const FittedFactor& straggler = calibration.factors[2];
    EXPECT_EQ(straggler.factor, "straggler");
    EXPECT_FALSE(straggler.determined);
    EXPECT_EQ(straggler.by, "prior");
    EXPECT_EQ(straggler.value, 0.02);
    EXPECT_FALSE(straggler.other_start.has_value());
}

// Twice as fast as the chip can be: the MXU's factor stays at 1, and the table says why.
TEST(Calibrate, SaysWhereAFactorIsAtItsLimit) {
    std::vector<Scenario> scenarios = measured_with({{"v4p", 0.6}, {"v5e", 0.7}}, 0.05);
    for (Scenario& one : scenarios) {
        if (one.hardware.chip.name == "v4p") {
            one.expectations.front().of /= 4;
        }
    }
    const Calibration calibration =
        calibrate(scenarios, {.per_chip = {"mxu"}, .pooled = {}, .jobs = 2});
    EXPECT_DOUBLE_EQ(calibration.factors[0].value, 1);
    EXPECT_TRUE(calibration.factors[0].at_limit);
    EXPECT_FALSE(calibration.factors[1].at_limit);
    EXPECT_THAT(
        calibration_text(calibration),
        ::testing::ContainsRegex("v4p +1 .*at its limit; the steps would have it beyond\n"));
}

// Nothing is fitted: the scenarios' own factors are judged.
TEST(Calibrate, JudgesAProfileWithoutAFit) {
    const std::vector<Scenario> scenarios = measured_with({{"v4p", 0.6}}, 0);
    const Calibration calibration = calibrate(scenarios, {.per_chip = {}, .pooled = {}, .jobs = 1});
    EXPECT_TRUE(calibration.factors.empty());
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
        EXPECT_NEAR(calibration.points[i].podsim.fitted_s, simulated_reference(scenarios[i]), 1e-9);
    }
    EXPECT_EQ(calibration.profile.chips.at("v4p"), scenarios.front().hardware.efficiency);
}

// A copy at 0.7 of the rate defines `hbm`; a chip without a copy also takes it; no microbenchmark
// counts among the steps.
TEST_F(CalibrateCommand, FitsWhatMicrobenchmarksDefineFirst) {
    std::vector<Scenario> scenarios = measured_with({{"v4p", 0.6}}, 0);
    Scenario copy = load_scenario(
        write("hardware: {chip: v6e, slice: 1x1, profile: ideal}\n"
              "program: {stages: [{do: read-hbm, bytes: 1 GB}]}\n"
              "expect: {step_time: {of: 1 s, within: 9 %, tier: B, defines: hbm}}\n"));
    copy.hardware.efficiency.hbm = 0.7;
    copy.expectations.front().of = simulated_reference(copy);
    copy.hardware.efficiency = {};
    scenarios.push_back(copy);
    const Calibration calibration =
        calibrate(scenarios, {.per_chip = {"mxu"}, .pooled = {}, .jobs = 1});
    ASSERT_EQ(calibration.factors.size(), 2U);
    EXPECT_EQ(calibration.factors[1].factor, "hbm");
    EXPECT_EQ(calibration.factors[1].chip, "v6e");
    EXPECT_EQ(calibration.factors[1].by, "microbenchmarks");
    EXPECT_NEAR(calibration.factors[1].value, 0.7, 0.01);
    EXPECT_EQ(calibration.profile.chips.at("v4p").hbm, calibration.factors[1].value);
    EXPECT_EQ(calibration.points.back().what, Measured::microbenchmark);
    EXPECT_EQ(calibration.points.back().tier, "B");
    EXPECT_FALSE(calibration.points.back().podsim.without_chip_s.has_value());
    EXPECT_NEAR(calibration.points.back().podsim.fitted_s / calibration.points.back().measured_s, 1,
                0.01);
}

TEST(Calibrate, HoldsNothingOutWithoutAnotherChip) {
    const std::vector<Scenario> scenarios = measured_with({{"v4p", 0.6}}, 0);
    const Calibration calibration = calibrate(scenarios, {});
    EXPECT_FALSE(calibration.points.front().podsim.without_chip_s.has_value());
}

TEST(Calibrate, SummarisesErrors) {
    const ErrorSummary summary = summarise(std::vector<double>{0.1, -0.2, 0.04});
    EXPECT_NEAR(summary.mean_absolute, 0.34 / 3, 1e-15);
    EXPECT_NEAR(summary.bias, -0.02, 1e-15);
    EXPECT_EQ(summary.worst, -0.2);
}

// The summary covers the points of all chips, in the table's words and in JSON.
TEST_F(CalibrateCommand, CalibrateSumsUpTheErrorsOfAllPoints) {
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
    EXPECT_THAT(both.out, ::testing::ContainsRegex(
                              fmt::format("podsim, fitted +{:.1f} %", 100 * errors / 2)));
    EXPECT_THAT(both.out, HasSubstr("podsim, held out by chip"));
}

TEST_F(CalibrateCommand, CalibrateRefusesWhatItCannotUse) {
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
