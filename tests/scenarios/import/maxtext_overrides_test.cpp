// Dimensions beside model_name, and the microbatches of a batch, as in MaxText.
#include <gmock/gmock.h>

#include "tests/scenarios/import/maxtext_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MaxTextOverrides : public MaxText {
protected:
    std::string model(std::vector<std::string> keys) { return line(keys, "model"); }
};

TEST_F(MaxTextOverrides, TheModelsOwnConfigGoesBeforeTheFile) {
    // The file has base_emb_dim: 2048, and so on.
    EXPECT_EQ(model({"model_name=llama3.1-8b"}), "model: llama-3-8b");
    EXPECT_EQ(model({"model_name=llama3.1-8b-Instruct"}), "model: llama-3-8b");
    const auto json = nlohmann::json::parse(import({"model_name=llama3.1-8b", "--json", "-"}).out);
    const auto ignored = std::ranges::find_if(
        json["ignored"], [](const auto& each) { return each["key"] == "base_emb_dim"; });
    ASSERT_NE(ignored, json["ignored"].end());
    EXPECT_EQ((*ignored)["why"], "the config of llama3.1-8b has its own");
}

TEST_F(MaxTextOverrides, TheCommandLineMustSayTheSame) {
    EXPECT_EQ(model({"model_name=llama3.1-8b", "base_emb_dim=4096", "vocab_size=128_256",
                     "mlp_activations=[silu,linear]", "logits_via_embedding=false"}),
              "model: llama-3-8b");
    refused({"model_name=llama3.1-8b", "base_emb_dim=2048"},
            "base_emb_dim=2048: base_emb_dim: 2048 beside the 4096 of llama3.1-8b's own config, "
            "which MaxText refuses; leave it out, or add override_model_config=true");
    refused({"model_name=gpt3-175b", "mlp_activations=[silu,linear]"},
            "mlp_activations=[silu,linear]: mlp_activations: [silu,linear] beside the plain MLP of "
            "gpt3-175b's own config, which MaxText refuses; leave it out, or add "
            "override_model_config=true");
    refused({"model_name=gemma-2b", "logits_via_embedding=false", "override_model_config=false"},
            "logits_via_embedding=false: logits_via_embedding: false beside the true of gemma-2b's "
            "own config, which MaxText refuses; leave it out, or add override_model_config=true");
}

// configs/models/gpt3-6b.yml and gpt3-22b.yml also have max_target_length: 1024.
TEST_F(MaxTextOverrides, TheSequenceOfAModelsOwnConfig) {
    const std::vector<std::string> keys{"model_name=gpt3-22b", "per_device_batch_size=2"};
    EXPECT_EQ(line(keys, "model"),
              "model: {base: gpt-3-175b, name: gpt3-22b, layers: 48, d_model: 6144, d_ff: 24576, "
              "heads: 24, kv_heads: 24, head_dim: 256, vocabulary: 32768, positions: 16384}");
    EXPECT_THAT(line(keys, "batch"), HasSubstr("sequence: 1024}"));
    EXPECT_THAT(line({"model_name=gpt3-6b", "max_target_length=1024"}, "batch"),
                HasSubstr("sequence: 1024}"));
    refused({"model_name=gpt3-6b", "max_target_length=2048"},
            "max_target_length=2048: max_target_length: 2048 beside the 1024 of gpt3-6b's own "
            "config, which MaxText refuses; leave it out, or add override_model_config=true");
    EXPECT_THAT(line({"model_name=gpt3-6b", "max_target_length=2048", "override_model_config=true"},
                     "batch"),
                HasSubstr("sequence: 2048}"));
}

// configs/models/gpt3-*.yml: opt_type: adam_pax, gradient_clipping_threshold: 1.,
// logits_dot_in_fp32: False, fused_qkv: True; qwen2.5-*.yml and gpt-oss-*.yml:
// attention_bias: True.
TEST_F(MaxTextOverrides, OtherKeysOfAModelsOwnConfig) {
    const std::string remedy =
        "which MaxText refuses; leave it out, or add override_model_config=true";
    const std::string gpt3 = "model_name=gpt3-6b";
    refused({gpt3, "opt_type=sgd"},
            "opt_type=sgd: opt_type: sgd beside the adam_pax of gpt3-6b's own config, " + remedy);
    refused({gpt3, "gradient_clipping_threshold=0"},
            "gradient_clipping_threshold=0: gradient_clipping_threshold: 0 beside the 1.0 of "
            "gpt3-6b's own config, " +
                remedy);
    refused({gpt3, "logits_dot_in_fp32=true"},
            "logits_dot_in_fp32=true: logits_dot_in_fp32: true beside the false of gpt3-6b's own "
            "config, " +
                remedy);
    refused({gpt3, "fused_qkv=false"},
            "fused_qkv=false: fused_qkv: false beside the true of gpt3-6b's own config, " + remedy);
    EXPECT_EQ(line({gpt3, "gradient_clipping_threshold=1", "logits_dot_in_fp32=False",
                    "fused_qkv=True", "opt_type=adam_pax"},
                   "training"),
              line({gpt3}, "training"));
    EXPECT_THAT(line({gpt3, "opt_type=sgd", "override_model_config=true"}, "training"),
                HasSubstr("optimizer: sgd"));
    // The config overrides the file.
    EXPECT_THAT(line({gpt3}, "training"), HasSubstr("clip_gradients: true"));
    EXPECT_THAT(line({gpt3}, "training"), Not(HasSubstr("logits: fp32")));

    refused({"model_name=qwen2.5-7b", "attention_bias=false"},
            "attention_bias=false: attention_bias: false beside the true of qwen2.5-7b's own "
            "config, " +
                remedy);
    EXPECT_THAT(
        model({"model_name=qwen2.5-7b", "attention_bias=false", "override_model_config=true"}),
        HasSubstr("biases: none"));
    EXPECT_THAT(
        import({"model_name=gpt-oss-20b", "attention_bias=false", "override_model_config=true"})
            .err,
        HasSubstr("attention_bias=false is not expressed: podsim has all biases of that "
                  "model, or none"));
}

TEST_F(MaxTextOverrides, OrOverrideTheConfig) {
    const std::string allowed = "override_model_config=true";
    EXPECT_EQ(model({"model_name=llama3.1-8b", "base_emb_dim=2048", "head_dim=256",
                     "base_num_query_heads=16", "base_num_kv_heads=4", allowed}),
              "model: {base: llama-3-8b, d_model: 2048, heads: 16, kv_heads: 4, head_dim: 256}");
    EXPECT_THAT(import({"model_name=llama3.1-8b", "base_emb_dim=2048", allowed}).out,
                HasSubstr("# note: base_emb_dim is 2048, not the 4096 of llama3.1-8b's own "
                          "config: override_model_config\n"));
    // A layer of Gemma 2 is two of a scenario.
    EXPECT_EQ(model({"model_name=gemma2-9b", "base_num_decoder_layers=10", allowed}),
              "model: {base: gemma-2-9b, layers: 20}");
    EXPECT_EQ(
        model({"model_name=mixtral-8x7b", "num_experts=16", "base_moe_mlp_dim=7168", allowed}),
        "model: {base: mixtral-8x7b, experts: {count: 16, d_ff: 7168}}");
    EXPECT_THAT(model({"model_name=gpt-oss-20b", "base_num_decoder_layers=12", allowed}),
                HasSubstr("{name: gpt-oss-20b, layers: 12, d_model: 2880, "));
    EXPECT_EQ(
        model({"model_name=llama2-7b", "mlp_activations=[gelu]", "use_qk_norm=true", allowed}),
        "model: {base: llama-2-7b, mlp: plain}");  // models/llama2.py does not read use_qk_norm
    EXPECT_THAT(model({"model_name=qwen3-8b", "use_qk_norm=false", allowed}),
                HasSubstr("qk_norm: false"));
    const Outcome outcome = import({"model_name=llama2-7b", "num_experts=8"});
    EXPECT_EQ(outcome.err, "warning: num_experts=8 is not expressed: llama2-7b has no experts\n");
    EXPECT_EQ(import({"model_name=llama2-7b", "global_head_dim=256"}).err,
              "warning: global_head_dim=256 is not expressed: llama2-7b has no global layers with "
              "sizes of their own\n");
}

TEST_F(MaxTextOverrides, ScalesGoOnTop) {
    EXPECT_EQ(model({"model_name=llama2-7b", "global_parameter_scale=2"}),
              "model: {base: llama-2-7b, d_ff: 22016, heads: 64, kv_heads: 64}");
    EXPECT_EQ(model({"model_name=llama2-7b", "global_parameter_scale=8"}),
              "model: {base: llama-2-7b, layers: 64, d_model: 8192, d_ff: 22016, heads: 64, "
              "kv_heads: 64}");
}

using MaxTextMicrobatches = MaxTextOverrides;

TEST_F(MaxTextMicrobatches, APipelineHasAsManyAsStages) {
    const std::vector<std::string> keys{"model_name=llama3.1-8b", "ici_pipeline_parallelism=4",
                                        "per_device_batch_size=1"};
    const auto training = [&](std::vector<std::string> more) {
        more.insert(more.begin(), keys.begin(), keys.end());
        return line(more, "training");
    };
    // Single layers circulate: 8 repeats of 4 stages.
    EXPECT_THAT(training({}), HasSubstr("microbatches: 4, schedule: interleaved, chunks: 8}"));
    EXPECT_THAT(training({"num_layers_per_pipeline_stage=8"}),
                HasSubstr("microbatches: 4, schedule: gpipe}"));
    EXPECT_THAT(training({"num_layers_per_pipeline_stage=4", "num_pipeline_microbatches=16"}),
                HasSubstr("microbatches: 16, schedule: interleaved, chunks: 2}"));
    EXPECT_THAT(training({"pipeline_delay_activation_forwarding=true"}),
                HasSubstr("microbatches: 8, "));
    // They are not read without a pipeline.
    EXPECT_THAT(line({"model_name=llama3.1-8b", "num_pipeline_microbatches=8"}, "training"),
                Not(HasSubstr("microbatches")));
}

// gradient_accumulation.py: the scan adds up gradients with the sharding of the parameters, which
// automatic sharding reduces over data inside the scan. In a loop of layers XLA leaves the
// AllReduce there.
TEST_F(MaxTextMicrobatches, GradientsAreReducedWhereTheShardingPutsIt) {
    const auto training = [&](std::vector<std::string> keys) {
        keys.insert(keys.end(),
                    {"model_name=llama3.1-8b", "per_device_batch_size=1", "ici_data_parallelism=4",
                     "ici_fsdp_parallelism=-1", "allow_split_physical_axes=true"});
        return line(keys, "training");
    };
    const std::string twice = "gradient_accumulation_steps=2";
    EXPECT_THAT(training({twice}), HasSubstr("microbatches: 2, gradient_reduction: each}"));
    EXPECT_THAT(training({twice, "shard_optimizer_over_data=true"}),
                HasSubstr("zero: 1, microbatches: 2, gradient_reduction: each}"));
    EXPECT_THAT(training({twice, "scan_layers=false"}),
                HasSubstr("gradient_reduction: data_once}"));
    EXPECT_THAT(
        training({twice, "scan_layers=false",
                  "LIBTPU_INIT_ARGS=--xla_disable_hlo_passes=while-loop-all-reduce-code-motion"}),
        HasSubstr("gradient_reduction: each}"));
    EXPECT_THAT(training({twice, "shard_mode=explicit"}),
                HasSubstr("gradient_reduction: data_once}"));
    EXPECT_THAT(training({}), Not(HasSubstr("gradient_reduction")));
    EXPECT_THAT(line({"model_name=llama3.1-8b", "per_device_batch_size=1", twice}, "training"),
                Not(HasSubstr("gradient_reduction")));  // only fsdp
    refused({"model_name=llama3.1-8b", "shard_mode=manual"},
            "shard_mode=manual: shard_mode: unknown mode 'manual'; allowed: auto, explicit");
}

TEST_F(MaxTextMicrobatches, EachAccumulationDrainsThePipeline) {
    const std::vector<std::string> keys{"model_name=llama3.1-8b", "ici_pipeline_parallelism=4",
                                        "allow_split_physical_axes=true", "per_device_batch_size=1",
                                        "gradient_accumulation_steps=4"};
    EXPECT_EQ(line(keys, "batch"), "batch: {tokens: 2097152, sequence: 2048}");
    EXPECT_THAT(line(keys, "training"),
                HasSubstr("microbatches: 16, schedule: interleaved, chunks: 8}"));
    // 3 of 4 drains of 3 slots, of 4 x (8 x 4 + 3).
    EXPECT_EQ(import(keys).err,
              "warning: gradient_accumulation_steps=4 is not expressed: MaxText drains the "
              "pipeline behind each of the 4 passes, podsim once: some 6.4 % of the step are "
              "missing\n");
}

TEST_F(MaxTextMicrobatches, AreRefusedAsMaxTextDoes) {
    refused({"model_name=llama3.1-405b", "ici_pipeline_parallelism=4", "per_device_batch_size=1"},
            "ici_pipeline_parallelism=4: ici_pipeline_parallelism: 4 stages x 31 repeats x 1 "
            "layers are not the 126 layers of the model; change the stages, the repeats or the "
            "layers of a stage");
    refused({"model_name=llama3.1-8b", "ici_pipeline_parallelism=4", "num_pipeline_microbatches=6"},
            "num_pipeline_microbatches=6: num_pipeline_microbatches: 6 microbatches of 3072 "
            "sequences in 4 stages; MaxText wants a multiple of the stages that divides the "
            "sequences of a pass");
}

}  // namespace
}  // namespace podsim::scenarios
