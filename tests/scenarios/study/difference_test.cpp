// Two steps side by side: terms that add up, settings that differ, refusals, and the error of
// a difference.
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/scenario_files.h"
#include "scenarios/src/study/fit.h"
#include "scenarios/src/study/ratio_error.h"
#include "scenarios/src/study/step_difference.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Diff = CommandTest;
using Doc = nlohmann::json;

std::int64_t ps(const Doc& seconds) {
    return std::llround(seconds.get<double>() * 1e12);
}

/// Sums of a map's terms, in A, in B, and of the excess in B.
struct Sums {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t more = 0;
    bool operator==(const Sums&) const = default;
};
Sums sums_of(const Doc& terms) {
    Sums sums;
    for (const auto& [name, term] : terms.items()) {
        sums.a += ps(term["a"]);
        sums.b += ps(term["b"]);
        sums.more += ps(term["more"]);
    }
    return sums;
}

Doc diff_json(std::vector<std::string> args) {
    args.insert(args.begin(), "diff");
    args.insert(args.end(), {"--json", "-"});
    const Outcome outcome = podsim(args);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return Doc::parse(outcome.out);
}

void expect_adds_up(const Doc& doc) {
    const std::int64_t a = ps(doc["a"]["step_time_s"]);
    const std::int64_t b = ps(doc["b"]["step_time_s"]);
    EXPECT_EQ(ps(doc["more_s"]), b - a);
    for (const char* account : {"causes_s", "stream_s", "critical_path_s", "gap_s"}) {
        EXPECT_EQ(sums_of(doc[account]), (Sums{a, b, b - a})) << account;
    }
}

TEST_F(Diff, OfAScenarioWithItselfIsZero) {
    const std::string file = write(kGood);
    const Doc doc = diff_json({file, file});
    EXPECT_EQ(doc["more_s"], 0);
    EXPECT_EQ(doc["settings"], Doc::array());
    EXPECT_EQ(doc["belief"], "same");
    EXPECT_EQ(doc["why"], "A and B take the same time, to the picosecond.");
    expect_adds_up(doc);
    for (const char* map :
         {"causes_s", "stream_s", "critical_path_s", "gap_s", "at_peak_bytes", "link_bytes"}) {
        EXPECT_FALSE(doc[map].empty()) << map;
        for (const auto& [name, term] : doc[map].items()) {
            EXPECT_EQ(term["more"], 0) << map << ' ' << name;
        }
    }
}

TEST_F(Diff, OneKeyChanged) {
    const std::string file = write(kGood);
    const Doc doc = diff_json({file, "--set-b", "training.remat=none"});
    EXPECT_EQ(doc["settings"],
              Doc::parse(R"([{"key": "training.remat", "a": "full", "b": "none"}])"));
    expect_adds_up(doc);
    // Nothing is computed twice: the whole pass is gone.
    EXPECT_GT(ps(doc["stream_s"]["recompute"]["a"]), 0);
    EXPECT_EQ(ps(doc["stream_s"]["recompute"]["b"]), 0);
    EXPECT_THAT(doc["why"].get<std::string>(), HasSubstr(": recompute "));
    // The same as two files, and in reverse order.
    const std::string other = write(std::string(kGood) + "training: {remat: none}\n", "b.yaml");
    const Doc files = diff_json({file, other});
    EXPECT_EQ(files["stream_s"], doc["stream_s"]);
    EXPECT_EQ(files["settings"], doc["settings"]);
    EXPECT_EQ(ps(diff_json({other, file})["more_s"]), -ps(doc["more_s"]));
    EXPECT_EQ(diff_json({file, "--set-a", "training.remat=none"})["more_s"],
              diff_json({other, file})["more_s"]);
    EXPECT_EQ(diff_json({file, file, "--set", "training.remat=none"})["a"]["step_time_s"],
              doc["b"]["step_time_s"]);
}

TEST_F(Diff, AnotherWayToWriteAValueIsNoDifference) {
    EXPECT_EQ(diff_json({write(kGood), "--set-b", "batch.tokens=262144"})["settings"],
              Doc::array());
}

TEST_F(Diff, AResultThatWasWrittenIsAsGoodAsItsScenario) {
    const std::string file = write(kGood);
    ASSERT_EQ(podsim({"run", file, "--json", path("r.json")}).status, 0);
    const Doc doc = diff_json({path("r.json"), file, "--set-b", "training.remat=none"});
    Doc of_files = diff_json({file, "--set-b", "training.remat=none"});
    for (const char* map : {"settings", "all_settings", "causes_s", "stream_s", "critical_path_s",
                            "gap_s", "at_peak_bytes", "link_bytes", "more_s", "why", "belief"}) {
        EXPECT_EQ(doc[map], of_files[map]) << map;
    }
    // Two results, without their scenarios.
    ASSERT_EQ(
        podsim({"run", file, "--set", "training.remat=none", "--json", path("n.json")}).status, 0);
    EXPECT_EQ(diff_json({path("r.json"), path("n.json")})["settings"],
              Doc::parse(R"([{"key": "training.remat", "a": "full", "b": "none"}])"));
    EXPECT_THAT(podsim({"diff", path("r.json"), path("n.json")}).out,
                HasSubstr("Settings that differ  A     B\n  training.remat      full  none\n"));
    EXPECT_THAT(podsim({"diff", path("r.json"), path("r.json")}).out,
                HasSubstr("\nNo setting differs\n"));
}

/// A result without `settings_in_force`, by an older podsim.
TEST_F(Diff, AResultWithoutSettingsIsComparedByWhatItSays) {
    const std::string file = write(kGood);
    ASSERT_EQ(podsim({"run", file, "--json", path("r.json")}).status, 0);
    Doc older = Doc::parse(std::ifstream(path("r.json")));
    older.erase("settings_in_force");
    write(older.dump(), "r.json");
    EXPECT_FALSE(diff_json({path("r.json"), file})["all_settings"]);
    const Doc meshes = diff_json({path("r.json"), file, "--set-b", "mesh={fsdp: x y, tensor: z}"});
    EXPECT_EQ(meshes["settings"], Doc::parse(R"([{"key": "mesh.fsdp", "a": "x y z", "b": "x y"},
                                                 {"key": "mesh.tensor", "a": null, "b": "z"}])"));
    expect_adds_up(meshes);
    const std::string none = "\nNo setting differs";
    EXPECT_THAT(podsim({"diff", path("r.json"), path("r.json")}).out,
                HasSubstr(none + " of those that a written result says; scenarios say all\n"));
    EXPECT_THAT(podsim({"diff", file, file}).out, HasSubstr(none + "\n"));
}

/// A result has the names of its model and chip; a scenario may have maps of them.
TEST_F(Diff, AResultWithAModelOfItsOwnIsThatOfItsScenario) {
    const std::string file = write(
        "hardware: {chip: {base: v5p, ici_latency: 2 us}, slice: 4x4x4}\n"
        "model: {base: llama-3-8b, layers: 4}\n"
        "batch: {tokens: 256Ki, sequence: 4096}\nmesh: {fsdp: x y z}\n");
    ASSERT_EQ(podsim({"run", file, "--json", path("own.json")}).status, 0);
    EXPECT_EQ(diff_json({path("own.json"), file})["settings"], Doc::array());
    EXPECT_EQ(diff_json({file, path("own.json")})["settings"], Doc::array());
    Doc older = Doc::parse(std::ifstream(path("own.json")));
    older.erase("settings_in_force");
    write(older.dump(), "own.json");
    EXPECT_EQ(diff_json({path("own.json"), file})["settings"], Doc::array());
    EXPECT_EQ(diff_json({file, path("own.json")})["settings"], Doc::array());
    EXPECT_EQ(
        diff_json({path("own.json"), file, "--set-b", "model=llama-3-8b"})["settings"],
        Doc::parse(
            R"json([{"key": "model", "a": "llama-3-8b (modified)", "b": "llama-3-8b"}])json"));
}

/// Both directions to the host belong to one cause, whichever file names it.
TEST_F(Diff, WaitsOfAWrittenResultHaveTheCausesOfItsScenario) {
    const std::string file = write(
        "hardware: {chip: {base: v5p, pcie_one_way: 1 GB/s}, slice: 2x2x1}\n"
        "model: {base: llama-3-8b, layers: 4}\n"
        "batch: {tokens: 64Ki, sequence: 4096}\n"
        "mesh: {fsdp: x y}\n"
        "training: {remat: {save: [qkv_proj], offload: [decoder_layer_input]}}\n");
    ASSERT_EQ(podsim({"run", file, "--json", path("r.json")}).status, 0);
    const Doc doc = diff_json({path("r.json"), file});
    EXPECT_EQ(doc["more_s"], 0.0);
    EXPECT_GT(doc["causes_s"]["PCIe (offload)"]["a"], 0.0);
    EXPECT_TRUE(doc["causes_s"].contains("collectives over fsdp"));
    for (const char* account : {"causes_s", "stream_s", "critical_path_s", "gap_s"}) {
        for (const auto& [name, term] : doc[account].items()) {
            EXPECT_EQ(term["a"], term["b"]) << account << ' ' << name;
        }
    }
}

TEST_F(Diff, TheFirstScreenSaysWhy) {
    const std::string file = write(kGood);
    const Outcome outcome = podsim({"diff", file, "--set-b", "training.remat=none"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, StartsWith("B takes "));
    EXPECT_LE(std::ranges::count(outcome.out, '\n'), 30);
    EXPECT_THAT(plain(outcome.out),
                HasSubstr("  A  s.yaml\n  B  s.yaml --set training.remat=none\n"));
    const Outcome verbose = podsim({"diff", file, "--set-b", "training.remat=none", "--verbose"});
    EXPECT_THAT(verbose.out, HasSubstr("Gap, from the lower bound"));
}

TEST_F(Diff, WhatCannotBeComparedIsRefused) {
    const auto refused = [&](std::vector<std::string> args, const std::string& message) {
        args.insert(args.begin(), "diff");
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(plain(outcome.err), message + '\n');
    };
    const std::string file = write(kGood);
    const std::string usage = "; usage: podsim diff A B, or podsim diff A --set-b key=value";
    const std::string reads = "; podsim diff reads what podsim run --json writes of a step";
    refused({}, "podsim diff: nothing to compare" + usage);
    refused({file}, "podsim diff: nothing to compare A with" + usage);
    refused({"-", "-"},
            "podsim diff: A and B are both standard input; name a file for one of them");
    refused({file, write("hardware: {chip: v5p, slice: 4x4x4}\nprogram: {stages: [{do: all-gather, "
                         "axes: z, bytes: 1 MiB}]}\n",
                         "p.yaml")},
            "p.yaml: a program of stages, not a step; podsim diff sets steps side by side; podsim "
            "compare has programs, a line each");
    refused({file, write(R"({"schema": "podsim/2", "kind": "search"})", "k.json")},
            "k.json: a result of kind \"search\"" + reads);
    refused({write(R"({"schema": "podsim/1"})", "v.json"), file},
            "v.json: a result of another version of podsim's JSON" + reads);
    refused({write(R"({"schema": "podsim/2", "time_s": 1})", "t.json"), file},
            "t.json: not the result of a step" + reads);
    ASSERT_EQ(podsim({"run", file, "--json", path("r.json")}).status, 0);
    refused({path("r.json"), "--set-b", "training.remat=none"},
            "r.json: a result is as it was written; --set, --set-a and --set-b change scenarios");
    const Doc whole = Doc::parse(std::ifstream(path("r.json")));
    Doc broken = whole;
    broken["step_time_s"] = broken["step_time_s"].get<double>() + 1e-12;
    refused({write(broken.dump(), "b.json"), file},
            "b.json: its terms do not add up to its step" + reads);
    broken["step_time_s"] = 10000;
    refused({write(broken.dump(), "b.json"), file},
            "b.json: 10000 s have no exact picoseconds in JSON" + reads);
    broken.erase("tokens_per_s");
    broken["step_time_s"] = 1;
    refused({write(broken.dump(), "b.json"), file},
            "b.json: no tokens_per_s in this result" + reads);
    broken = whole;
    broken["settings_in_force"]["said"]["batch.tokens"] = 4;
    refused({write(broken.dump(), "b.json"), file},
            "b.json: what is in settings_in_force/said is not a text" + reads);
    broken["settings_in_force"]["said"] = Doc::array();
    refused({write(broken.dump(), "b.json"), file},
            "b.json: settings_in_force/said is no map" + reads);
    for (const Doc& count : {Doc(4e119), Doc(512.5), Doc(-1), Doc("512")}) {
        broken = whole;
        broken["chips"] = count;
        refused({write(broken.dump(), "b.json"), file}, "b.json: chips is no count" + reads);
    }
}

TEST(SideBySide, EveryNameOnceTheLargestDifferenceFirst) {
    const std::vector<Share> a{{"p", {10}}, {"q", {5}}, {"q", {1}}};
    const std::vector<Share> b{{"r", {3}}, {"p", {8}}, {"q", {4}}, {"q", {7}}};
    const std::vector<TermPair> rows = side_by_side(a, b);
    ASSERT_EQ(rows.size(), 3);
    EXPECT_EQ(rows[0].name, "q");
    EXPECT_EQ(rows[0].more().ps, 5);
    EXPECT_EQ(rows[1].name, "r");
    EXPECT_EQ(rows[1].a.ps, 0);
    EXPECT_EQ(rows[2].name, "p");
    EXPECT_EQ(rows[2].more().ps, -2);
    EXPECT_EQ(signed_time(rows[2].more()), "-2.000 ps");
}

/// Returns a step with that many ms of each.
StepFigures figures(std::int64_t forward, std::int64_t backward, std::int64_t waits) {
    constexpr std::int64_t kMillisecond = 1'000'000'000;
    StepFigures one;
    one.chip = "v5p";
    one.model = "m";
    one.chips = 1;
    one.tokens = 1;
    one.like_published = true;
    one.stream = {
        {"forward", {forward * kMillisecond}},
        {"backward", {backward * kMillisecond}},
        {"AllGather over fsdp (weights)", {waits * kMillisecond}, "collectives over fsdp"}};
    one.step = {(forward + backward + waits) * kMillisecond};
    return one;
}

TEST(WhyText, NamesTheLargestTermsAndThoseAgainstThem) {
    // 70 ms less of 400: waits 90 less; backward 20 more, above a tenth.
    EXPECT_EQ(why_text(difference_of(figures(100, 200, 100), figures(100, 220, 10))),
              "B takes 70.00 ms less than A (-17.5 %): waits for collectives over fsdp 90.00 ms "
              "less; against it backward 20.00 ms more.");
    // 100 more: 60 are less than four fifths of that, with 40 more they suffice.
    EXPECT_EQ(why_text(difference_of(figures(100, 200, 100), figures(160, 240, 100))),
              "B takes 100.0 ms longer than A (+25.0 %): forward 60.00 ms more, backward 40.00 ms "
              "more.");
}

TEST(Belief, GoesByTheErrorOfADifference) {
    const StepFigures a = figures(1000, 0, 0);
    EXPECT_EQ(difference_of(a, figures(1066, 0, 0)).belief, Belief::within);  // ln 1.066 = 0.0639
    EXPECT_EQ(difference_of(a, figures(1067, 0, 0)).belief, Belief::beyond);  // ln 1.067 = 0.0649
    EXPECT_EQ(difference_of(a, a).belief, Belief::same);
    StepFigures other = figures(1049, 0, 0);
    other.chip = "v5e";
    EXPECT_EQ(difference_of(a, other).belief, Belief::unknown);
    other = figures(2098, 0, 0);
    other.tokens = 2;  // 1049 ms a token
    EXPECT_EQ(difference_of(a, other).belief, Belief::within);
    const std::string error = "the 6.4 % within which 80 % of 101 published pairs were predicted";
    EXPECT_EQ(belief_text(difference_of(a, other)),
              "In chip time a token (+4.9 %) that is within " + error + ": try both on hardware.");
    EXPECT_EQ(belief_text(difference_of(a, figures(1071, 0, 0))), "That is beyond " + error + ".");
}

std::vector<Scenario> published() {
    std::vector<ScenarioSource> steps;
    const std::string folder = source_folder() + std::string("/scenarios/published");
    for (const ScenarioSource& one : files_of(std::vector<ScenarioSource>{folder})) {
        if (one.file.find("/microbenchmarks/") == std::string::npos &&
            one.file.find("/inference/") == std::string::npos) {
            steps.push_back(one);
        }
    }
    return load_scenarios(steps);
}

constexpr double kAsItIs = 0.0641;

TEST(RatioError, IsThatOfThePublishedPairs) {
    const std::vector<Scenario> scenarios = published();
    const std::vector<Measurement> measurements = measurements_of(scenarios, false);
    std::vector<double> perfect;
    std::vector<double> simulated;
    for (const Measurement& one : measurements) {
        perfect.push_back(2 * one.measured_s);
        simulated.push_back(simulated_reference(*one.scenario));
    }
    // A common factor cancels.
    EXPECT_NEAR(ratio_errors(measurements, perfect).worst, 0, 1e-12);
    const RatioErrors errors = ratio_errors(measurements, simulated);
    EXPECT_EQ(errors.pairs, kRatioPairs);
    // With the current profile, which was fitted to these steps, the error is 6.4 %, and the
    // constant may not be lower. The worst are GPT-3 in int8 on v6e, as a recipe and in MLPerf.
    EXPECT_NEAR(errors.four_of_five, kAsItIs, 0.0005);
    EXPECT_LE(errors.four_of_five, kRatioError + 0.0005);
    EXPECT_NEAR(errors.worst, 0.2154, 0.005);
}

// The constant is the larger of the two errors. The held-out one is in docs/tables/calibrate.md, as
// podsim calibrate prints it; the tests of pages compare that page with the program.
TEST(RatioError, IsNotBelowThatOfTheHeldOutPredictions) {
    std::ifstream page(source_folder() + std::string("/docs/tables/calibrate.md"));
    const std::string text{std::istreambuf_iterator<char>(page), {}};
    const std::string printed = fmt::format("held out by family: 80 % of {} within ", kRatioPairs);
    const std::size_t at = text.find(printed);
    ASSERT_NE(at, std::string::npos);
    const double held_out = std::stod(text.substr(at + printed.size())) / 100;
    EXPECT_GE(kRatioError, held_out);
    EXPECT_LE(kRatioError, std::max(held_out, kAsItIs) + 0.0005);
}

}  // namespace
}  // namespace podsim::scenarios
