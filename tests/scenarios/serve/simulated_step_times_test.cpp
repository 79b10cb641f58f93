// Shapes of the serving loop become the steps of those sequences.
#include <gtest/gtest.h>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/serve/serve_scenario.h"
#include "scenarios/src/serve/serving_loop.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using samples::small_model;
using workloads::CachedRun;

Scenario server() {
    Scenario scenario = make_scenario("v5e", {2, 1, 1}, small_model(3), {{"tensor", "x"}}, 1, 1);
    workloads::TrainingPlan& plan = scenario.step().plan;
    plan.forward_only = true;
    plan.inference = workloads::Inference{{{1, 1, 0, 1}}};
    plan.attention.vmem = scenario.hardware.chip.vmem.value;
    scenario.hardware.efficiency.host_s = 1;  // counted by the loop, not by the steps
    return scenario;
}

sim::Time time_of_run(const CachedRun& run) {
    Scenario scenario = server();
    scenario.hardware.efficiency.host_s = 0;
    scenario.step().plan.inference->runs = {run};
    scenario.step().plan.batch.tokens = run.sequences * run.fresh;
    scenario.step().plan.batch.sequence = run.fresh;
    return simulate_step(scenario, Fold::automatic, {}).step_time;
}

TEST(SimulatedStepTimesTest, AShapeIsRunsOfLikeSequences) {
    // Three decode with 7 tokens in the mean of 20; two chunks, one of which ends its prompt.
    const std::vector<CachedRun> runs = runs_of({.decoding = 3,
                                                 .decode_cached = 20,
                                                 .decode_tokens = 2,
                                                 .prompts = {{4, 1, false}, {5, 4, true}}});
    EXPECT_EQ(runs, (std::vector<CachedRun>{{3, 2, 7, 2}, {1, 4, 1, 0}, {1, 5, 4, 1}}));
    EXPECT_EQ(runs_of({.prompts = std::vector(4, PromptPart{10, 2, true})}),
              (std::vector<CachedRun>{{4, 10, 2, 1}}));
    // Two of five decodes have full windows, with 100 tokens each; the others have 10.
    EXPECT_EQ(runs_of({.decoding = 5, .decode_cached = 230, .full = 2, .full_cached = 200}),
              (std::vector<CachedRun>{{2, 1, 100, 1}, {3, 1, 10, 1}}));
    EXPECT_TRUE(runs_of({}).empty());
}

TEST(SimulatedStepTimesTest, AStepIsThatOfItsRunsWithoutTheHost) {
    SimulatedStepTimes times(server());
    EXPECT_EQ(times.time_of({}).ps, 0);
    EXPECT_EQ(times.time_of({.decoding = 8, .decode_cached = 800}).ps,
              time_of_run({8, 1, 100, 1}).ps);
    EXPECT_EQ(times.time_of({.prompts = {{512, 0, true}}}).ps, time_of_run({1, 512, 0, 1}).ps);
}

// Attention of a prompt grows with its square: three of 16 tokens and one of 4000 differ from four
// of 1012. With windows of 64 tokens those of short caches are not full.
TEST(SimulatedStepTimesTest, UnequalSequencesTakeWhatTheyTakeThemselves) {
    const auto time_of_runs = [](Scenario scenario, const std::vector<CachedRun>& runs) {
        scenario.hardware.efficiency.host_s = 0;
        workloads::TrainingPlan& plan = scenario.step().plan;
        plan.inference->runs = runs;
        plan.batch.tokens = plan.inference->tokens();
        plan.batch.sequence = 1;
        return simulate_step(scenario, Fold::automatic, {}).step_time;
    };
    SimulatedStepTimes times(server());
    EXPECT_EQ(
        times.time_of({.prompts = {{16, 0, true}, {16, 0, true}, {16, 0, true}, {4000, 0, true}}}),
        time_of_runs(server(), {{3, 16, 0, 1}, {1, 4000, 0, 1}}));
    Scenario windows = server();
    windows.step().model.window = 64;
    SimulatedStepTimes local(windows);
    EXPECT_EQ(local.time_of({.decoding = 6, .decode_cached = 4060, .full = 2, .full_cached = 4000}),
              time_of_runs(windows, {{2, 1, 2000, 1}, {4, 1, 15, 1}}));
}

// A prompt of 300 and an answer of 5: the prefill, and decode steps behind 300, 301, 302 and 303
// tokens, with the host before each.
TEST(SimulatedStepTimesTest, OneRequestTakesItsPrefillAndItsDecodeStepsExactly) {
    SimulatedStepTimes steps(server());
    ServingSpec spec;
    spec.load.arrivals = ArrivalKind::concurrency;
    spec.load.requests = 2;
    spec.load.prompt.least = spec.load.prompt.most = 300;
    spec.load.output.least = spec.load.output.most = 5;
    spec.per_octave = 0;
    spec.host = sim::Time{1000};
    const ServingResult result = serve(spec, {.steps = &steps});
    sim::Time sum = time_of_run({1, 300, 0, 1}) + spec.host;
    for (std::int64_t cached = 300; cached < 304; ++cached) {
        sum += time_of_run({1, 1, cached, 1}) + spec.host;
    }
    EXPECT_EQ(result.requests[0].finished.ps, sum.ps);
    EXPECT_EQ(result.requests[1].finished.ps, 2 * sum.ps);
}

}  // namespace
}  // namespace podsim::scenarios
