// The reference text's quantities of steps that generate tokens, verify drafts or have latent
// attention, each derived anew.
#include "scenarios/src/scenario/inference_formulas.h"

#include <gtest/gtest.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

class InferenceFormulas : public CommandTest {
protected:
    Scenario scenario_of(const std::string& step, const std::string& model = kModel) {
        return load_scenario(write("hardware: {chip: v5e, slice: 1x1, profile: ideal}\nmodel: " +
                                   model + "\ninference: {" + step + "}\n"));
    }
    double value(const Scenario& scenario, std::string_view name) {
        return find_formula(name)->value(scenario);
    }

    static constexpr const char* kModel =
        "{layers: 4, d_model: 2048, d_ff: 8192, heads: 16, kv_heads: 4, head_dim: 128, vocabulary: "
        "32000}";
    static constexpr double kOfToken = 2.0 * 4 * 128 * 4 * 2;  // bytes of its keys and values
};

/// P parameters of 2 bytes. A prefill of 4 x 128 tokens is bound by 2 x 512 P FLOPs, more than 243
/// tokens' worth. Each of 64 decode steps loads 2 P bytes and the caches of 4 sequences of 128,
/// 129, ... 191 tokens, 10208 in total.
TEST_F(InferenceFormulas, OfGenerationCountItsTokensAndASingleStep) {
    const Scenario scenario = scenario_of("step: generate, batch: 4, prompt: 128, generate: 65");
    const topology::ChipSpec& chip = scenario.hardware.chip;
    const double hbm = chip.hbm_bandwidth.value.value();
    const double load = value(scenario, "parameter_bytes") / hbm;
    const double prefill = 512 * value(scenario, "parameter_bytes") / chip.bf16_flops.value.value();
    const double seconds = prefill + 64 * load + 4 * 10208 * kOfToken / hbm;
    EXPECT_NEAR(value(scenario, "book_tokens_per_s"), 4 * 65 / seconds, 1e-9 * 4 * 65 / seconds);
    EXPECT_NEAR(value(scenario, "book_least_step"), 65 * load + 4 * 10208 * kOfToken / hbm,
                1e-9 * seconds);
    EXPECT_DOUBLE_EQ(value(scenario, "book_load_parameters"), load);
    EXPECT_DOUBLE_EQ(value(scenario, "activation_bytes"), 4 * 2048 * 2);
    // As for the first decode step alone.
    const Scenario decode = scenario_of("step: decode, batch: 4, context: 128");
    for (const char* const name :
         {"most_model_ways", "latency_bound_ways", "attention_intensity", "book_load_parameters"}) {
        EXPECT_DOUBLE_EQ(value(scenario, name), value(decode, name)) << name;
    }
    // A single token is the prefill's, whose 512 tokens share F / (B beta).
    const Scenario one = scenario_of("step: generate, batch: 4, prompt: 128, generate: 1");
    EXPECT_DOUBLE_EQ(value(one, "most_model_ways"), value(decode, "most_model_ways") / 128);
    EXPECT_DOUBLE_EQ(value(one, "book_tokens_per_s"), 4 / prefill);
}

/// 20 tokens go through the step and 4 are counted, as tokens_per_s does.
TEST_F(InferenceFormulas, OfDraftedTokensCountOneASequence) {
    const Scenario scenario = scenario_of("step: decode, batch: 4, context: 500, draft: 4");
    const double hbm = scenario.hardware.chip.hbm_bandwidth.value.value();
    const double bytes = value(scenario, "parameter_bytes") + 4 * 500 * kOfToken;
    EXPECT_DOUBLE_EQ(value(scenario, "book_tokens_per_s"), 4 * hbm / bytes);
    EXPECT_DOUBLE_EQ(value(scenario, "activation_bytes"), 20 * 2048 * 2);
}

/// DeepSeek-V3 in decode: 128 heads multiply 512 + 64 columns of a cached token and then 512,
/// 2 x 128 x 1088 FLOPs, for its 576 elements of 2 bytes: 241.8, less the queries and outputs
/// beside 8192 tokens. A prompt is multiplied by complete keys and values, each head's own:
/// S T / (S + T).
TEST_F(InferenceFormulas, LatentAttentionSharesItsVectorBetweenAllHeads) {
    const double decode = value(scenario_of("step: decode, batch: 1, context: 8191", "deepseek-v3"),
                                "attention_intensity");
    EXPECT_NEAR(decode, 2.0 * 8192 * 128 * 1088 / (2.0 * (8192 * 576 + 128 * 1088)), 1e-9);
    EXPECT_NEAR(decode, 234.8, 0.1);
    EXPECT_DOUBLE_EQ(
        value(scenario_of("step: prefill, prompt: 1024", "deepseek-v3"), "attention_intensity"),
        512);
}

}  // namespace
}  // namespace podsim::scenarios
