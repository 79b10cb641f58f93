// `check` and `estimate` say without a run what the run says.
#include "scenarios/src/cli/check.h"

#include <cmath>
#include <gmock/gmock.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/scenario_files.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Covers the library's runs of less than 300000 events. Beyond program order a run may hold
/// gradients that wait for their reduction.
TEST(Check, EventsAreThoseOfTheRunAndMemoryIsNear) {
    int steps = 0;
    for (const char* const folder : {"/scenarios/examples", "/scenarios/book"}) {
        for (const std::string& file : scenario_files(source_folder() + folder)) {
            SCOPED_TRACE(file);
            const Scenario scenario = load_scenario(file, {}, Requests::any);
            const Checked checked = check(file, {});
            ASSERT_TRUE(checked.errors.empty());
            if (scenario.serving != nullptr || checked.size->events > 300'000) {
                continue;
            }
            if (scenario.is_program()) {
                const ProgramResult run =
                    simulate_program(scenario.hardware, scenario.program(), Fold::automatic);
                EXPECT_EQ(checked.size->events, run.events);
                continue;
            }
            const StepResult run = simulate_step(scenario, Fold::automatic, {.explain = false});
            EXPECT_EQ(checked.size->events, run.events);
            EXPECT_EQ(checked.size->simulated_chips, run.simulated_chips);
            const double share = checked.memory->peak / run.memory.peak;
            EXPECT_GT(share, 0.8);
            EXPECT_LT(share, 1.05);
            const StepEstimate estimate = estimate_step(scenario);
            EXPECT_EQ(estimate.bounds.lower.time, run.lower.time);
            EXPECT_EQ(estimate.bounds.serial, run.serial);
            EXPECT_EQ(estimate.bounds.book, run.book);
            ++steps;
        }
    }
    EXPECT_GT(steps, 20);
}

using CheckCommand = CommandTest;

TEST_F(CheckCommand, WhatDoesNotFitHasAStatusOfItsOwn) {
    const std::string small = write(kGood);
    const std::string large = write(
        good_but("llama-3-8b", "llama-3-405b") + "training: {parameters: fp32}\n", "large.yaml");
    EXPECT_EQ(podsim({"check", small, large}).status, 0);
    EXPECT_EQ(podsim({"check", small, "--fail-if-not-fit"}).status, 0);
    const Outcome outcome = podsim({"check", small, large, "--fail-if-not-fit"});
    EXPECT_EQ(outcome.status, 4);
    EXPECT_THAT(outcome.out, HasSubstr("does not fit: "));
    EXPECT_EQ(podsim({"run", large, "--no-explain", "--fail-if-not-fit"}).status, 4);
    EXPECT_EQ(podsim({"run", small, "--no-explain", "--fail-if-not-fit"}).status, 0);
}

// Refused as by `serve`: 140 GB of weights on 4 x 16 GB.
TEST_F(CheckCommand, AServingThatDoesNotFitCannotRun) {
    const std::string file = source_folder() + "/scenarios/examples/serve-llama3-8b-v5e.yaml";
    EXPECT_EQ(podsim({"check", file}).status, 0);
    const std::vector<std::string> large{file, "--set", "model=llama-3-70b", "--set",
                                         "inference={}"};
    for (const char* const command : {"check", "serve"}) {
        std::vector<std::string> args{command};
        args.insert(args.end(), large.begin(), large.end());
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_THAT(outcome.err, ::testing::ContainsRegex(
                                     ": the weights and the largest step, of [0-9]+ tokens, leave "
                                     "no memory for a page of cache; use more chips, narrower"));
    }
}

TEST_F(CheckCommand, SaysAllThatIsWrongInAllFiles) {
    const std::string good = write(kGood);
    const std::string bad = write(good_but("4x4x4", "4x4x5") + "trainng: {}\n", "bad.yaml");
    const Outcome outcome = podsim({"check", bad, good, "--json", "-"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(plain(outcome.err), HasSubstr("bad.yaml:5:1: unknown key 'trainng'"));
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["kind"], "check");
    EXPECT_EQ(json["scenarios"][0]["valid"], false);
    EXPECT_EQ(json["scenarios"][0]["errors"].size(), 2U);
    EXPECT_EQ(json["scenarios"][1]["valid"], true);
}

TEST_F(CheckCommand, AnEmptyFolderHidesNoFaults) {
    const std::string bad = write(good_but("tokens: 256Ki", "tokens: 256Kx"), "bad.yaml");
    const std::string good = write(kGood);
    std::filesystem::create_directories(path("empty"));
    const Outcome outcome = podsim({"check", bad, path("empty"), good, "--json", path("json")});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(
        plain(outcome.err),
        "bad.yaml:3:17: batch.tokens: '256Kx' has the unknown unit 'Kx'; write a whole number "
        "such as 4Mi; units: k, M, G, T, Ki, Mi, Gi, Ti; nearest: k\n"
        "empty: this folder holds no *.yaml file; name a folder of scenarios\n");
    EXPECT_THAT(plain(outcome.out),
                StartsWith("bad.yaml: one thing is wrong\nempty: one thing is wrong\n"
                           "s.yaml: a step that can run\n"));
}

// An automatic mesh is valid only for a search.
TEST_F(CheckCommand, SaysWhatASearchGoesOver) {
    const std::string of_auto = good_but("4x4x4", "2x2x4").replace(0, 0, "name: small\n");
    const std::string file = write(of_auto + "search: {vary: ['training.remat=none,full']}\n");
    const Outcome plain_step = podsim({"check", file});
    EXPECT_EQ(plain_step.status, 0);
    EXPECT_THAT(plain(plain_step.out),
                StartsWith("s.yaml: a step that can run\n"
                           "  podsim search goes over training.remat: 2 plans\n"));
    const Outcome outcome = podsim({"check", file, "--set", "mesh=auto"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    // 3 rows of 2, two of which are 6 in any order; 9 of 4.
    EXPECT_EQ(plain(outcome.out),
              "s.yaml: a search; its mesh is auto, so that no run takes it\n"
              "  podsim search goes over mesh, training.remat: 108 plans\n");
    const auto json =
        nlohmann::json::parse(podsim({"check", file, "--set", "mesh=auto", "--json", "-"}).out);
    EXPECT_EQ(json["scenarios"][0],
              (nlohmann::json{
                  {"file", file},
                  {"type", "search"},
                  {"valid", true},
                  {"errors", nlohmann::json::array()},
                  {"scenario", "small"},
                  {"search", {{"varies", {"mesh", "training.remat"}}, {"enumerated", 108}}}}));
    for (const char* const command : {"run", "show", "estimate"}) {
        const Outcome refused = podsim({command, file, "--set", "mesh=auto"});
        EXPECT_EQ(refused.status, 2);
        EXPECT_EQ(refused.err,
                  "--set mesh=auto: 'mesh' is auto, which is for a search to find; podsim search "
                  "FILE finds the best; to run one, write mesh: {fsdp: x y, tensor: z}\n");
    }
}

// An error under every mesh is an error of the scenario; an error under only some meshes is not.
TEST_F(CheckCommand, SaysWhatIsWrongWhateverTheMesh) {
    const std::string file = write(good_but("{fsdp: x y z}", "auto"));
    const Outcome outcome = podsim({"check", file, "--set", "batch.sequence=3"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(plain(outcome.err),
              "s.yaml:3:17: tokens = 262144 is not a multiple of sequence = 3; the nearest that "
              "work are 262143 and 262146\n");
    // fsdp alone has 64 members, too many for 8 sequences.
    EXPECT_EQ(podsim({"check", file, "--set", "batch.sequence=32Ki"}).status, 0);
}

TEST_F(CheckCommand, EstimateOfAProgramIsRefused) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 4x4x4}\n"
        "program: {stages: [{do: all-gather, axes: x, bytes: 1 GB}]}\n");
    const Outcome outcome = podsim({"estimate", file});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(plain(outcome.err),
              "s.yaml: a program has no closed forms of a step; use podsim run, whose report has "
              "its bound\n");
}

}  // namespace
}  // namespace podsim::scenarios
