// Steps with ring attention to a window: folding, reuse, bounds, files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/algorithms/ring_step_schedule.h"
#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/run_step.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using workloads::Placement;
using WindowRingFile = CommandTest;

struct WindowCase {
    std::vector<std::pair<std::string, std::string>> mesh;
    int chips = 0;  ///< simulated
    topology::Point shape{4, 4, 4};
    const char* chip = "v5p";
};

// A whole axis, a block of neighbours, a strided factor, a line; tensor, expert and pipeline
// parallelism beside it.
const std::vector<WindowCase>& window_cases() {
    static const std::vector<WindowCase> all{
        {{{"fsdp", "x y"}, {"context", "z"}}, 4},
        {{{"fsdp", "x"}, {"tensor", "y"}, {"context", "z"}}, 4},
        {{{"fsdp", "x y z/2"}, {"context", "z%2"}}, 2},
        {{{"fsdp", "x y z%2"}, {"context", "z/2"}}, 4},
        {{{"expert", "x%2 y"}, {"context", "x/2"}, {"tensor", "z"}}, 4},
        {{{"pipeline", "x"}, {"fsdp", "y"}, {"context", "z"}}, 16},
        {{{"fsdp", "x"}, {"context", "y"}}, 8, {4, 4, 1}, "v5e"}};
    return all;
}

/// Returns a step whose layers see 640 of 4096 keys; every third layer sees all of them.
Scenario windowed(const WindowCase& one, Placement placement) {
    workloads::ModelSpec model = samples::small_model(4);
    model.window = 640;
    model.global_every = 3;
    Scenario scenario = make_scenario(one.chip, one.shape, model, one.mesh, 64, 4096);
    if (scenario.step().plan.ways.expert > 1) {
        scenario.step().model.experts = {.count = 8, .per_token = 2, .d_ff = 1024};
    }
    scenario.step().plan.ways.pipeline = scenario.step().mesh.size("pipeline");
    scenario.step().plan.batch.microbatches = scenario.step().plan.ways.pipeline;
    scenario.step().plan.attention.placement = placement;
    scenario.step().plan.overlap.context_steps = collectives::step_gather(
        scenario.hardware.slice, scenario.step().mesh.group({"context"}), false);
    return scenario;
}

TEST(WindowRingStep, FoldedEqualsUnfoldedToThePicosecond) {
    for (const WindowCase& one : window_cases()) {
        for (const Placement placement : {Placement::zig_zag, Placement::plain}) {
            SCOPED_TRACE(::testing::PrintToString(one.mesh) +
                         (placement == Placement::plain ? " plain" : " zig-zag"));
            const Scenario scenario = windowed(one, placement);
            const StepResult folded = samples::expect_folded_equals_unfolded(scenario);
            EXPECT_EQ(folded.simulated_chips, one.chips);
            ASSERT_TRUE(folded.imbalance);
            EXPECT_EQ(folded.imbalance->even_step.has_value(), placement == Placement::plain);
        }
    }
}

// Many layers are alike, so that reuse may count instead of simulating them.
TEST(WindowRingStep, ReuseChangesNothing) {
    for (const Placement placement : {Placement::zig_zag, Placement::plain}) {
        Scenario scenario = windowed(window_cases().front(), placement);
        scenario.step().model.layers = 24;
        scenario.step().model.global_every = 0;
        const auto programs = workloads::build_stages(scenario.step().model, scenario.step().plan);
        const LoweredStep step = lower_step(programs, AchievedHardware(scenario.hardware),
                                            scenario.step().mesh, Fold::automatic);
        const StepRun with = run_step(step);
        const StepRun without = run_step(step, {.reuse = false});
        EXPECT_EQ(with.result.end, without.result.end);
        EXPECT_EQ(with.result.events, without.result.events);
        EXPECT_EQ(with.result.links, without.result.links);
        for (std::size_t chip = 0; chip < with.chips.size(); ++chip) {
            EXPECT_EQ(with.chips[chip].ended, without.chips[chip].ended);
        }
    }
}

constexpr const char* kMistral =
    "hardware: {chip: v5p, slice: 4x4x4}\nmodel: mistral-7b\n"
    "batch: {tokens: 512Ki, sequence: 32768}\n";

TEST_F(WindowRingFile, ReportSaysWhatTheWindowCosts) {
    const std::string file =
        write(std::string(kMistral) + "mesh: {fsdp: x y, context: z}\noverlap: {context: ring}\n");
    const Outcome run = podsim({"run", file, "--what-if"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, ::testing::HasSubstr("  a window in a ring over context (4): the fullest "
                                              "rank has "));
    EXPECT_THAT(run.out, ::testing::Not(::testing::HasSubstr("equal work")));
    const Json json = Json::parse(podsim({"run", file, "--json", "-"}).out);
    // S = 8 q, W = q = 4096. The first segment has q^2 / 2 pairs, the others q^2: one rank has 1.5,
    // the other three 2 each, 7.5 in all.
    EXPECT_DOUBLE_EQ(json["imbalance"]["attention_over_mean"], 2 / (7.5 / 4));
    EXPECT_FALSE(json["imbalance"].contains("even_step_time_s"));
}

TEST_F(WindowRingFile, SaysWhatIsWrong) {
    const auto error = [&](const std::string& text) {
        const Outcome outcome = podsim({"run", write(std::string(kMistral) + text)});
        EXPECT_EQ(outcome.status, 2);
        return outcome.err.substr(outcome.err.find(".yaml:") + 6);
    };
    EXPECT_EQ(error("mesh: {fsdp: x y, context: z}\ntraining: {attention: full}\n"
                    "overlap: {context: ring}\n"),
              "6:20: overlap.context: ring attention to a window is there for causal attention "
              "alone; write gathered, or attention: causal\n");
    EXPECT_EQ(
        error("mesh: {fsdp: x y, context: z%2 z/2}\noverlap: {context: ring}\n"),
        "5:20: overlap.context: the ranks of context do not follow each other along its axis, "
        "which ring attention to a window of the last keys needs; write its outer factor "
        "first, as in x/2 x%2\n");
}

}  // namespace
}  // namespace podsim::scenarios
