// A server's memory holds what its largest step leaves for caches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/serve/serve_scenario.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/models/kv_cache.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using samples::small_model;
using ::testing::ElementsAre;

Scenario two_chips() {
    Scenario scenario = make_scenario("v5e", {2, 1, 1}, small_model(3), {{"tensor", "x"}}, 1, 1);
    workloads::TrainingPlan& plan = scenario.step().plan;
    plan.forward_only = true;
    plan.inference = workloads::Inference{{{1, 1, 0, 1}}};
    plan.attention.vmem = scenario.hardware.chip.vmem.value;
    return scenario;
}

std::int64_t tokens_beside(const Scenario& scenario, const StepShape& step, double share = 1) {
    return cached_tokens_that_fit(scenario, {&step, 1}, share);
}

// 3 layers of 4 heads of 2 x 64 elements of 2 bytes, half of them on each of two chips: 1.5 kB a
// token and chip.
TEST(ServerMemory, HoldsCachesBesideWeightsAndBuffers) {
    const Scenario scenario = two_chips();
    const double capacity = scenario.hardware.chip.usable_hbm().value();
    const double weights =
        static_cast<double>(workloads::count_parameters(scenario.step().model).total) * 2 / 2;
    const StepShape step{.prompts = {{1, 0, true}}};
    const std::int64_t tokens = tokens_beside(scenario, step);
    const double held = static_cast<double>(tokens) * 1536 + weights;
    EXPECT_LE(held, capacity);
    EXPECT_GT(held, capacity * 0.9999);  // one token's buffers are a few kB
    EXPECT_LT(tokens_beside(scenario, step, 0.5), tokens / 2 + 1);
    EXPECT_EQ(tokens_beside(scenario, step, 1e-6), 0);
}

// 1,000 decoding sequences have the rows of a prompt of 1,000 tokens. They have 1,000 logits
// instead of one, each of half of a million columns in 2 bytes: 1 GB, beside which rows are small.
// The step that needs more counts.
TEST(ServerMemory, CountsTheLogitsOfAllThatDecode) {
    Scenario scenario = two_chips();
    scenario.step().model.vocabulary = 1 << 20;
    const StepShape prompt{.prompts = {{1000, 0, true}}};
    const StepShape decode{.decoding = 1000};
    const auto apart =
        static_cast<double>(tokens_beside(scenario, prompt) - tokens_beside(scenario, decode));
    const double logits = 1000 * double{1 << 20} / 2 * 2;
    EXPECT_NEAR(apart * 1536, logits, 0.02 * logits);
    const std::vector<StepShape> both{prompt, decode};
    EXPECT_EQ(cached_tokens_that_fit(scenario, both, 1), tokens_beside(scenario, decode));
}

// One of three layers sees all tokens, two the last 64: a token beyond them takes a third of one
// before. `run` keeps the same tokens.
TEST(ServerMemory, KeepsTheTokensOfAWindow) {
    Scenario scenario = two_chips();
    EXPECT_EQ(kept_on_chips(scenario).window, 0);
    EXPECT_EQ(kept_on_chips(scenario).of(1e6), 1e6);
    scenario.step().model.window = 64;
    scenario.step().model.global_every = 3;
    const KeptTokens kept = kept_on_chips(scenario);
    EXPECT_EQ(kept.window, 64);
    EXPECT_DOUBLE_EQ(kept.beyond, 1.0 / 3);
    const double bytes = workloads::cache_bytes(scenario.step().model, 1000, 2).value();
    EXPECT_DOUBLE_EQ(kept.of(1000) * 3 * 4 * 2 * 64 * 2, bytes);
}

/// Three requests, of 40 + 5, 30 + 9 and 20 + 1 tokens.
std::vector<Request> three() {
    std::vector<Request> requests(3);
    requests[0].prompt = 40;
    requests[0].output = 5;
    requests[1].prompt = 30;
    requests[1].output = 9;
    requests[2].prompt = 20;
    return requests;
}

ServingSpec spec_of(BatchingKind kind, std::int64_t slots) {
    ServingSpec spec;
    spec.batching.kind = kind;
    spec.batching.slots = slots;
    return spec;
}

// 40 + 30 tokens of the two longest; all three with more slots than requests; with one client one.
TEST(LargestSteps, OfStaticBatchingAreThePromptsOfAllSlots) {
    ServingSpec spec = spec_of(BatchingKind::fixed, 2);
    const StepShape two{.prompts = {{35, 0, true}, {35, 0, true}}};
    EXPECT_THAT(largest_steps(spec, three(), false), ElementsAre(StepShape{.decoding = 2}, two));
    spec.batching.slots = 8;
    const StepShape all{.prompts = {{30, 0, true}, {30, 0, true}, {30, 0, true}}};
    EXPECT_THAT(largest_steps(spec, three(), false), ElementsAre(StepShape{.decoding = 3}, all));
    spec.load.arrivals = ArrivalKind::concurrency;
    const StepShape one{.prompts = {{40, 0, true}}};
    EXPECT_THAT(largest_steps(spec, three(), false), ElementsAre(StepShape{.decoding = 1}, one));
}

// The longest prompt; when recomputed, with its answer without a token, 40 + 4 against 30 + 8. A
// step compiled for four has one row more than three. Without the 16 of 20 cached tokens that fill
// a page, 24 are left.
TEST(LargestSteps, OfContinuousBatchingAreAPromptAndADecodeOfAllSlots) {
    ServingSpec spec = spec_of(BatchingKind::continuous, 3);
    spec.batching.padding = Padding::power_of_two;
    const StepShape decode{.decoding = 3, .padding = 1};
    const auto prompt = [](std::int64_t tokens) {
        return StepShape{.prompts = {{tokens, 0, true}}};
    };
    EXPECT_THAT(largest_steps(spec, three(), false), ElementsAre(decode, prompt(40)));
    EXPECT_THAT(largest_steps(spec, three(), true), ElementsAre(decode, prompt(44)));
    std::vector<Request> cached = three();
    cached.resize(1);
    cached[0].prefix = 20;
    EXPECT_THAT(largest_steps(spec, cached, false),
                ElementsAre(StepShape{.decoding = 1}, prompt(24)));
    EXPECT_EQ(longest_prompt(spec, cached, true), prompt(28));
    spec.disaggregation = DisaggregationSpec{};
    EXPECT_THAT(largest_steps(spec, three(), true), ElementsAre(decode));
}

// A budget of 32 has 11 + 11 + 10 tokens of three prompts, or 28 of one beside two decodes of
// two tokens, or three of these. Separate steps do not mix. A budget of 100 exceeds the 90
// existing tokens.
TEST(LargestSteps, OfChunksAreTheBudget) {
    ServingSpec spec = spec_of(BatchingKind::chunked, 4);
    spec.batching.budget = 32;
    spec.speculation.tokens = 1;
    const StepShape decode{.decoding = 3, .decode_tokens = 2};
    const StepShape chunks{.prompts = {{11, 0, true}, {11, 0, true}, {10, 0, true}}};
    const StepShape mixed{.decoding = 2, .decode_tokens = 2, .prompts = {{28, 0, true}}};
    EXPECT_THAT(largest_steps(spec, three(), false), ElementsAre(decode, chunks, mixed));
    spec.batching.mixed = false;
    spec.batching.budget = 100;
    const StepShape all{.prompts = {{30, 0, true}, {30, 0, true}, {30, 0, true}}};
    EXPECT_THAT(largest_steps(spec, three(), false), ElementsAre(decode, all));
}

}  // namespace
}  // namespace podsim::scenarios
