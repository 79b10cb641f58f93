// Steps that generate tokens: a sequence of single steps, with the host between them.
#include <gtest/gtest.h>

#include "tests/scenarios/simulate/inference_support.h"

namespace podsim::scenarios {
namespace {

using namespace samples;
using workloads::ModelSpec;

/// Returns the time of that many single steps of 16 sequences behind 300, 301, ... tokens.
sim::Time decode_steps(const Scenario& scenario, std::int64_t steps) {
    sim::Time sum;
    for (std::int64_t cached = 300; cached < 300 + steps; ++cached) {
        Scenario decode = scenario;
        decode.step().plan.inference->runs = {{16, 1, cached, 1}};
        decode.step().plan.batch = {.tokens = 16, .sequence = 1};
        sum += simulate_step(decode, Fold::automatic, {}).step_time;
    }
    return sum;
}

// A prompt of 300 and 4 tokens: the prefill makes the first, three steps behind 300, 301 and 302
// tokens the others. The host works between all of them. On a torus chips end a step together; on a
// mesh each begins the next when it ends.
TEST(GeneratedSteps, GenerationIsItsPrefillAndItsDecodeStepsExactly) {
    for (const ModelSpec& model : {small_model(3), small_with_windows(), small_with_latents()}) {
        Scenario scenario = inference("v5p", {4, 4, 4}, model, {{"tensor", "x"}, {"data", "y z"}},
                                      {{16, 300, 0, 1}});
        scenario.hardware.efficiency.host_s = 2e-3;
        const sim::Time prefill = simulate_step(scenario, Fold::automatic, {}).step_time;
        const sim::Time sum = prefill + decode_steps(scenario, 3);
        scenario.step().plan.inference->generate = 4;
        const StepResult whole = simulate_step(scenario, Fold::automatic, {});
        EXPECT_EQ(whole.step_time.ps, sum.ps) << model.name;
        EXPECT_EQ(whole.prefill.ps, prefill.ps) << model.name;
        EXPECT_GE(whole.step_time.seconds(), 4 * 2e-3);
        EXPECT_DOUBLE_EQ(whole.tokens_per_s, 16 * 4 / whole.step_time.seconds());
    }
}

// 5 tokens are a prefill and 4 decode steps: the host is asked 5 times, or once for a loop on
// the device.
TEST(GeneratedSteps, ALoopOnTheDeviceAsksTheHostOnce) {
    Scenario scenario = inference("v5p", {1, 1, 1}, small_model(2), {}, {{2, 64, 0, 1}});
    scenario.step().plan.inference->generate = 5;
    const auto time = [&] { return simulate_step(scenario, Fold::automatic).step_time.ps; };
    const std::int64_t without = time();
    scenario.hardware.efficiency.host_s = 1e-3;
    EXPECT_EQ(time() - without, 5'000'000'000);
    scenario.step().plan.inference->loop_on_device = true;
    EXPECT_EQ(time() - without, 1'000'000'000);
    // The same for a pipeline, with any number of microbatches.
    Scenario stages =
        inference("v5p", {2, 1, 1}, small_model(2), {{"pipeline", "x"}}, {{8, 64, 0, 1}});
    stages.step().plan.batch.microbatches = 4;
    stages.step().plan.inference->generate = 3;
    stages.step().plan.inference->loop_on_device = true;
    const std::int64_t of_device = simulate_step(stages, Fold::automatic).step_time.ps;
    stages.hardware.efficiency.host_s = 1e-3;
    EXPECT_EQ(simulate_step(stages, Fold::automatic).step_time.ps - of_device, 1'000'000'000);
    // The step never waits for a host that prepares the next one while the device works.
    scenario.step().plan.inference->loop_on_device = false;
    scenario.step().plan.inference->asynchronous = true;
    EXPECT_EQ(time(), without);
}

// In a pipeline each step's tokens come from the last stage: the step ends only after they have
// passed all stages again.
TEST(GeneratedSteps, APipelineGeneratesTokenByToken) {
    Scenario scenario =
        inference("v5p", {4, 4, 4}, small_model(4),
                  {{"pipeline", "x"}, {"tensor", "y"}, {"data", "z"}}, {{32, 300, 0, 1}});
    scenario.step().plan.batch.microbatches = 2;
    const sim::Time prefill = simulate_step(scenario, Fold::automatic, {}).step_time;
    Scenario decode = scenario;
    decode.step().plan.inference->runs = {{32, 1, 300, 1}};
    decode.step().plan.batch.tokens = 32;
    decode.step().plan.batch.sequence = 1;
    const sim::Time step = simulate_step(decode, Fold::automatic, {}).step_time;
    scenario.step().plan.inference->generate = 2;
    const StepResult folded = simulate_step(scenario, Fold::automatic, {});
    const StepResult whole = simulate_step(scenario, Fold::off, {});
    EXPECT_EQ(folded.step_time.ps, whole.step_time.ps);
    EXPECT_EQ(folded.prefill.ps, prefill.ps);
    // The first microbatch's tokens arrive before the second's: steps overlap by less than one
    // of them.
    EXPECT_LT(folded.step_time, prefill + step + step);
    EXPECT_GT(folded.step_time, prefill);
}

// Also with weights to gather no stage begins a step before it has its tokens. They arrive over 1
// or 2 links from the last stage, after 1 us each and some ns for 16 tokens of 4 bytes. A single
// step begins everywhere at once, so the whole is longer by one of those.
TEST(GeneratedSteps, NoStageOfAPipelineGathersWeightsBeforeItHasItsTokens) {
    Scenario scenario =
        inference("v5p", {4, 4, 4}, small_model(8),
                  {{"pipeline", "x"}, {"fsdp", "y"}, {"tensor", "z"}}, {{16, 300, 0, 1}});
    scenario.hardware.efficiency.host_s = 2e-3;
    const sim::Time prefill = simulate_step(scenario, Fold::automatic, {}).step_time;
    const sim::Time sum = prefill + decode_steps(scenario, 2);
    scenario.step().plan.inference->generate = 3;
    const StepResult folded = simulate_step(scenario, Fold::automatic, {});
    EXPECT_EQ(folded.prefill.ps, prefill.ps);
    EXPECT_GE(folded.step_time.ps, sum.ps + 2 * 1'000'000);
    EXPECT_LE(folded.step_time.ps, sum.ps + 2 * 2'010'000);
    EXPECT_EQ(simulate_step(scenario, Fold::off, {}).step_time.ps, folded.step_time.ps);
}

}  // namespace
}  // namespace podsim::scenarios
