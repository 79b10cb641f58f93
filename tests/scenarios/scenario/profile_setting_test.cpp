// Profiles in scenarios.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/simulate.h"
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
    // A chip that the scenario changes keeps the measurements of its base (changed_chip_test.cpp).
    const std::string changed = "chip: {base: v5p, hbm_capacity: 1 TB}, slice: 2x2x2";
    EXPECT_EQ(load(changed).hardware.efficiency, *topology::measured_efficiency("v5p"));
    EXPECT_EQ(load(changed + ", profile: ideal").hardware.efficiency, topology::Efficiency{});
    EXPECT_EQ(load("chip: {base: v3, name: v5p}, slice: 4x4").hardware.profile, "ideal");
    EXPECT_EQ(load("chip: v5p, slice: 2x2x2, profile: ideal").hardware.efficiency,
              topology::Efficiency{});
    EXPECT_EQ(load("chip: v3, slice: 4x4").hardware.profile, "ideal");
    expect_refused(
        good_but("chip: v5p, slice: 4x4x4", "chip: v3, slice: 4x4, profile: measured"),
        "s.yaml:1:43: hardware.profile: nothing was measured on v3; write profile: "
        "ideal, or take the factors of a chip that was measured, such as profile: {base: "
        "v5p}");
}

// A map once took the factors of the chip whose name it had; they are those of its base, under
// any name.
TEST_F(Profile, AChangedChipTakesTheFactorsOfItsBase) {
    for (const char* const name : {"v5p (modified)", "v6e", "v5p", "mine"}) {
        for (const char* const profile : {"", ", profile: measured", ", profile: measured@11"}) {
            const Scenario scenario =
                load(fmt::format("chip: {{base: tpu7x, name: {}, hbm_capacity: 1 TB}}, slice: "
                                 "2x2x2{}",
                                 name, profile));
            EXPECT_EQ(scenario.hardware.efficiency, *topology::measured_efficiency("tpu7x"));
            EXPECT_EQ(scenario.hardware.chip.name, name);
        }
    }
    expect_refused(good_but("chip: v5p, slice: 4x4x4",
                            "chip: {base: v3, name: v5p}, slice: 4x4, profile: measured"),
                   "s.yaml:1:62: hardware.profile: nothing was measured on v3; write profile: "
                   "ideal, or take the factors of a chip that was measured, such as profile: "
                   "{base: v5p}");
    const Scenario scenario =
        load("chip: {base: tpu7x, name: v5p}, slice: 2x2x2, profile: {base: v6e}");
    EXPECT_EQ(scenario.hardware.efficiency, *topology::measured_efficiency("v6e"));
    EXPECT_EQ(scenario.hardware.profile, "measured on v6e");
}

// A factor replaces that of the base, and nothing else changes.
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
            "v5p, v5e, v6e, tpu7x");
    refused("{base: ''}",
            "s.yaml:1:39: hardware.profile.base: unknown chip ''; allowed: ideal, v4p, v5p, v5e, "
            "v6e, tpu7x");
    refused("{base: v7}",
            "s.yaml:1:39: hardware.profile.base: unknown chip 'v7'; allowed: ideal, v4p, v5p, v5e, "
            "v6e, tpu7x");
    refused("{base: v5p, atention: 0.4}",
            "s.yaml:1:44: unknown hardware.profile key 'atention'; did you mean 'attention'? "
            "allowed: base, mxu, mxu_ramp, mxu_8bit, mxu_grouped, grid_step_s, attention, "
            "attention_backward, vpu, hbm, fusion, gather, ici, dcn, launch_s, "
            "straggler, kernel_s, sequence_s, host_s");
    refused("{base: v5p, mxu: 1.01}",
            "s.yaml:1:49: hardware.profile.mxu: '1.01' is out of range; allowed are 0.05 to 1");
    refused("{base: v5p, dcn: 0}",
            "s.yaml:1:49: hardware.profile.dcn: '0' is out of range; allowed are 0.02 to 1");
    refused("{base: v5p, launch_s: 2 us}",
            "s.yaml:1:54: hardware.profile.launch_s: '2 us' has the unknown unit 'us'; write a "
            "number such as 13.9 or 70.4G; units: k, M, G, T, Ki, Mi, Gi, Ti");
}

// The report and JSON name the base and the changed factors.
TEST_F(Profile, ReportsNameItsBaseAndItsFactors) {
    const std::string file = write(good_but("slice:", "profile: {base: v6e, ici: 0.7}, slice:"));
    EXPECT_THAT(podsim({"run", file, "--fold", "auto"}).out,
                ::testing::HasSubstr("Assumed: profile measured on v6e with ici 0.7, book ICI"));
    EXPECT_THAT(podsim({"run", file, "--json", "-"}).out,
                ::testing::HasSubstr("\"profile\": \"measured on v6e with ici 0.7\""));
}

// A clock makes matmuls and vector units faster, but neither HBM nor links, exactly like factors of
// the profile.
TEST_F(Profile, OfCoresAtAnotherClock) {
    const auto step = [this](const std::string& hardware) {
        return simulate_step(load("chip: tpu7x, slice: 4x4x4, " + hardware), Fold::automatic);
    };
    const StepResult said = step(
        "profile: {base: ideal, mxu: 0.875, attention: 0.4375, vpu: 0.75, hbm: 0.9, ici: 0.9}");
    const StepResult clocked = step(
        "core_clock: 1.25, "
        "profile: {base: ideal, mxu: 0.7, attention: 0.35, vpu: 0.6, hbm: 0.9, ici: 0.9}");
    EXPECT_EQ(clocked.step_time, said.step_time);
    EXPECT_EQ(clocked.lower.time, said.lower.time);
    EXPECT_EQ(clocked.mfu, said.mfu);
    // Below the peak the gap has the cost of the clock, which is all kernels.
    const StepResult slow = step("core_clock: 0.5, profile: ideal");
    const StepResult full = step("profile: ideal");
    EXPECT_EQ(samples::sum(slow.gap) - samples::sum(full.gap), slow.step_time - full.step_time);
    EXPECT_TRUE(std::ranges::any_of(slow.ledger, [&](const LedgerRow& row) {
        return row.name == "kernels below peak" && row.alone == slow.step_time - full.step_time;
    }));
    // Rates never exceed the peak.
    EXPECT_EQ(step("core_clock: 1.25, profile: {base: ideal, mxu: 0.9, vpu: 0.8}").step_time,
              step("profile: ideal").step_time);

    const std::string file =
        write(good_but("slice:", "core_clock: 0.875, profile: measured, slice:"));
    EXPECT_THAT(
        podsim({"run", file, "--fold", "auto"}).out,
        HasSubstr("Assumed: profile measured@11, cores at 0.875 times its clock, book ICI"));
    expect_refused(good_but("slice:", "core_clock: 1.6, slice:"),
                   "s.yaml:1:35: hardware.core_clock: '1.6' is out of range; allowed are 0.5 to "
                   "1.5");
    expect_refused(good_but("slice:", "core_clock: 1.1, profile: ideal, slice:"),
                   "s.yaml:1:35: hardware.core_clock: profile ideal runs at the peak rates, which "
                   "no clock exceeds; write 1 or less, or a profile that was measured");
}

// Costs of the profile are itemised before the ideal step's own terms, and the estimates
// stay ideal.
TEST_F(Profile, CostsAreTermsOfTheGap) {
    Scenario measured = load("chip: v5p, slice: 4x4x4, slices: 2");
    const StepResult with = simulate_step(measured, Fold::automatic);
    Scenario ideal = measured;
    ideal.hardware.efficiency = {};
    const StepResult without = simulate_step(ideal, Fold::automatic);
    EXPECT_EQ(with.lower.time, without.lower.time);
    EXPECT_EQ(with.serial, without.serial);
    EXPECT_EQ(with.book, without.book);
    EXPECT_EQ(samples::sum(with.gap).ps - samples::sum(without.gap).ps,
              with.step_time.ps - without.step_time.ps);
    for (const char* name : {"stragglers", "kernels below peak"}) {
        EXPECT_TRUE(std::ranges::any_of(with.gap, [&](const Share& share) {
            return share.name == name && share.time.ps > 0;
        })) << name;
    }
    EXPECT_EQ(samples::sum(with.critical_path), with.step_time);
    EXPECT_EQ(simulate_step(measured, Fold::off).step_time, with.step_time);
}

// Four slices are two doublings: compute takes 1 + 2 s as long, each operation rounded up once, if
// none waits for messages.
TEST_F(Profile, SlowestSliceSetsThePace) {
    Scenario scenario = load("chip: v5p, slice: 2x2x2, slices: 4, profile: ideal, hbm: private");
    const StepResult even = simulate_step(scenario, Fold::automatic);
    scenario.hardware.efficiency.straggler = 0.05;
    const StepResult slow = simulate_step(scenario, Fold::automatic);
    EXPECT_NEAR(static_cast<double>(slow.compute.ps), 1.1 * static_cast<double>(even.compute.ps),
                static_cast<double>(spans_of(even.reported_chip).size()));
}

// A block has a number of steps of each kind, one after the other.
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

// The version of `measured` is in the report and in JSON, and may be named; podsim has no other.
TEST_F(Profile, ItsVersionIsStated) {
    const Scenario scenario = load("chip: v5p, slice: 2x2x2, profile: measured@11");
    EXPECT_EQ(scenario.hardware.profile, "measured");
    EXPECT_EQ(scenario.hardware.profile_version, topology::kMeasuredVersion);
    EXPECT_EQ(load("chip: v5p, slice: 2x2x2, profile: ideal").hardware.profile_version, "");
    const std::string file = write(good_but("slice:", "profile: measured, slice:"));
    EXPECT_THAT(podsim({"run", file}).out, HasSubstr("Assumed: profile measured@11, book ICI"));
    const Json json = Json::parse(podsim({"run", file, "--json", "-"}).out);
    EXPECT_EQ(json["profile"], "measured");
    EXPECT_EQ(json["profile_version"], "11");
    EXPECT_TRUE(json.contains("error_band"));
    expect_refused(good_but("slice:", "profile: measured@9, slice:"),
                   "s.yaml:1:32: hardware.profile: this podsim has no profile 'measured@9'; write "
                   "measured, which is measured@11, or a file that podsim calibrate --write has "
                   "made");
}

// The band of a step that resembles the profile's steps, and of one that does not.
TEST_F(Profile, ReportPrintsTheBandOfTheProfile) {
    write(
        "name: ours\nversion: 3\nchips: {v5p: {mxu: 0.8}}\n"
        "band: {like: 0.06, unlike: 0.125, measured: [v5p dense bf16]}\n",
        "ours.yaml");
    const std::string file = write(good_but("slice:", "profile: ours.yaml, slice:"));
    const Outcome like = podsim({"run", file});
    EXPECT_THAT(like.out, HasSubstr(", 80 % of published steps like it lay within ±6 %\n"));
    EXPECT_THAT(like.out, HasSubstr("Assumed: profile ours@3, book ICI"));
    const Json json = Json::parse(podsim({"run", file, "--json", "-"}).out);
    EXPECT_EQ(json["profile"], "ours");
    EXPECT_EQ(json["profile_version"], "3");
    EXPECT_EQ(json["error_band"]["fraction"], 0.06);
    EXPECT_EQ(json["error_band"]["like_published"], true);
    const Outcome unlike = podsim({"run", file, "--set", "training.precision=int8"});
    EXPECT_THAT(unlike.out, HasSubstr(", no published step is like it, 80 % of those unlike "
                                      "others lay within ±12 %\n"));
    EXPECT_THAT(podsim({"run", file, "--set", "hardware.profile=ideal"}).out,
                ::testing::Not(HasSubstr("published step")));
    // The built-in profile's narrowest dense model has d_model 3840: the smallest width that
    // resembles it, and one below.
    for (const auto& [width, is_like] : {std::pair("3840", true), std::pair("3712", false)}) {
        const std::string model = std::string("{layers: 2, d_model: ") + width +
                                  ", d_ff: 8192, heads: 32, head_dim: 128, vocabulary: 32000}";
        const Json narrow = Json::parse(podsim({"run", file, "--set", "hardware.profile=measured",
                                                "--set", "model=" + model, "--json", "-"})
                                            .out);
        EXPECT_EQ(narrow["error_band"]["like_published"], is_like) << narrow;
    }
}

// A profile of training steps has no overheads of inference; the report also names the assumptions
// on the engine.
TEST_F(Profile, ThatHasNoOverheadsOfInferenceSaysSo) {
    write("name: ours\nversion: 3\nchips: {v6e: {mxu: 0.7}}\n", "ours.yaml");
    const std::string file = write(
        "hardware: {chip: v6e, slice: 2x2, profile: ours.yaml}\nmodel: mixtral-8x7b\n"
        "mesh: {tensor: x y}\ninference: {step: prefill, batch: 2, prompt: 1024, "
        "scheduling: async, attention_blocks: {q: 128, kv: 2048}, moe: {split: experts}}\n");
    const std::string engine =
        ", new tokens in blocks of 128 and 2048 keys, whole experts on tensor ways, the host "
        "beside the device";
    const std::string lacks =
        ", no overheads of inference (the profile has none: podsim calibrate --inference fits "
        "them)";
    EXPECT_THAT(podsim({"run", file}).out, HasSubstr(engine + lacks + ", prefetch 1 layer\n"));
    for (const char* const known : {"ideal", "measured"}) {
        EXPECT_THAT(podsim({"run", file, "--set", std::string("hardware.profile=") + known}).out,
                    HasSubstr(engine + ", prefetch 1 layer\n"));
    }
}

}  // namespace
}  // namespace podsim::scenarios
