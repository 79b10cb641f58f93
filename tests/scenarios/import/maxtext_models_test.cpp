// Models by MaxText's names, and by dimensions only.
#include "scenarios/src/import/maxtext_models.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/import/maxtext_fixture.h"
#include "workloads/models/hf_config.h"

namespace podsim::scenarios {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class MaxTextModels : public MaxText {
protected:
    workloads::ModelSpec imported(std::vector<std::string> keys) {
        keys.insert(keys.end(), {"--write", path("run.yaml")});
        const Outcome outcome = import(keys);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return load_scenario(path("run.yaml")).step().model;
    }
    std::int64_t parameters(const std::string& name) {
        return count_parameters(imported({"model_name=" + name})).total;
    }
};

workloads::ModelSpec of_config(const std::string& name) {
    return workloads::read_hf_config(source_folder() + "/tests/workloads/configs/" + name +
                                     ".json");
}

// MaxText's configs agree with those of huggingface.co, whose counts are the published ones
// (hf_counts_test.cpp).
TEST_F(MaxTextModels, AreThoseOfTheirHuggingFaceConfigs) {
    const std::pair<const char*, const char*> pairs[] = {
        {"qwen3-0.6b", "qwen3-0.6b"},
        {"qwen3-8b", "qwen3-8b"},
        {"qwen3-8b-base", "qwen3-8b"},
        {"olmo3-7b-pt", "olmo-3-7b"},
        {"qwen3-30b-a3b", "qwen3-30b-a3b"},
        {"qwen3-235b-a22b", "qwen3-235b-a22b"},
        {"qwen2.5-7b", "qwen2.5-vl-7b"},
        {"deepseek2-16b", "deepseek-v2-lite"},
        {"deepseek2-236b", "deepseek-v2"},
        {"deepseek3-671b", "deepseek-v3"},
        {"kimi-k2-1t", "kimi-k2"},
        {"llama4-17b-16e", "llama-4-scout"},
        {"llama4-17b-128e", "llama-4-maverick"},
        {"olmo3-7b", "olmo-3-7b"},
        {"olmo3-32b", "olmo-3-32b"},
        {"gemma4-31b", "gemma-4-31b"},
        {"gemma4-26b", "gemma-4-26b-a4b"},
        {"gpt-oss-20b", "gpt-oss-20b"},
        {"gpt-oss-120b", "gpt-oss-120b"},
    };
    for (const auto& [maxtext, config] : pairs) {
        SCOPED_TRACE(maxtext);
        const workloads::ModelSpec ours = imported({std::string("model_name=") + maxtext});
        const workloads::ModelSpec theirs = of_config(config);
        EXPECT_EQ(count_parameters(ours).total, count_parameters(theirs).total);
        EXPECT_EQ(count_parameters(ours).active, count_parameters(theirs).active);
        EXPECT_EQ(ours.layers, theirs.layers);
        EXPECT_EQ(ours.heads, theirs.heads);
        EXPECT_EQ(ours.kv_heads, theirs.kv_heads);
        EXPECT_EQ(ours.head_dim, theirs.head_dim);
        EXPECT_EQ(ours.window, theirs.window);
        EXPECT_EQ(ours.global_every, theirs.global_every);
        EXPECT_EQ(ours.global, theirs.global);
        EXPECT_EQ(ours.v_norm, theirs.v_norm);
        EXPECT_EQ(ours.chunk, theirs.chunk);
        EXPECT_EQ(ours.tied_embeddings, theirs.tied_embeddings);
        EXPECT_EQ(ours.experts.per_token, theirs.experts.per_token);
    }
}

// Published counts of models without a config here: Qwen/Qwen3-{1.7B,4B,14B,32B},
// Qwen3-Coder-480B-A35B, Qwen2.5-{1.5B,14B}. For Gemma 2 2B MaxText has 256128 rows of the table
// where google/gemma-2-2b has 256000 (2614341888 parameters). For Gemma 3 4B it has 262144 where
// google/gemma-3-4b-it has 262208.
TEST_F(MaxTextModels, HaveThePublishedCounts) {
    EXPECT_EQ(parameters("qwen3-1.7b"), 1'720'574'976);
    EXPECT_EQ(parameters("qwen3-4b"), 4'022'468'096);
    EXPECT_EQ(parameters("qwen3-4b-thinking-2507"), 4'022'468'096);
    EXPECT_EQ(parameters("qwen3-14b"), 14'768'307'200);
    EXPECT_EQ(parameters("qwen3-32b"), 32'762'123'264);
    EXPECT_EQ(parameters("qwen3-480b-a35b"), 480'154'875'392);
    EXPECT_EQ(parameters("qwen2.5-1.5b"), 1'543'714'304);
    EXPECT_EQ(parameters("qwen2.5-14b"), 14'770'033'664);
    EXPECT_EQ(parameters("gemma2-2b"), 2'614'341'888 + 128 * 2304);
    EXPECT_EQ(parameters("gemma3-4b"), count_parameters(of_config("gemma-3-4b")).total - 64 * 2560);
}

TEST_F(MaxTextModels, ThatPodsimLacksAreKnown) {
    for (const auto& [name, why] : {std::pair{"deepseek3.2-671b", "sparse attention with an index"},
                                    {"gemma4-e4b",
                                     "embeddings of every layer, and layers with the keys and "
                                     "values of others"},
                                    {"qwen3-next-80b-a3b", "linear attention"},
                                    {"qwen3-vl-2b", "an encoder"}}) {
        refused(
            {std::string("model_name=") + name},
            fmt::format("model_name={}: model_name: '{}' has {}, which podsim cannot say; write "
                        "a scenario of a model that is near it",
                        name, name, why));
    }
}

// configs/models/deepseek3-671b-2dfsdp.yml: its rules split the batch over fsdp, fsdp_transpose and
// expert, weights' rows over fsdp, their columns over fsdp_transpose and expert, and no array by
// its experts.
TEST_F(MaxTextModels, RulesOfItsOwnMakeAnAxisOfExpertsOneOfFsdp) {
    const std::vector<std::string> ways{
        "ici_fsdp_parallelism=16", "ici_fsdp_transpose_parallelism=4", "ici_expert_parallelism=4"};
    const auto of = [&](const char* name) {
        std::vector<std::string> keys{fmt::format("model_name={}", name)};
        keys.insert(keys.end(), ways.begin(), ways.end());
        return keys;
    };
    EXPECT_EQ(line(of("deepseek3-671b-2dfsdp"), "mesh"), "mesh: {fsdp: 256}");
    EXPECT_EQ(line(of("deepseek3-671b"), "mesh"), "mesh: {fsdp: 64, expert: 4}");
}

TEST_F(MaxTextModels, AllLoad) {
    for (const MaxTextNamedModel& each : maxtext_models()) {
        SCOPED_TRACE(each.name);
        EXPECT_GT(imported({"model_name=" + std::string(each.name)}).layers, 0);
    }
}

// model_name=default, and the keys that the block of that name reads in src/maxtext/models.
TEST_F(MaxTextModels, OfDimensionsAlone) {
    const std::string block = "decoder_block=";
    EXPECT_THAT(line({block + "mixtral", "num_experts=8", "num_experts_per_tok=2",
                      "base_mlp_dim=14336", "base_moe_mlp_dim=14336", "global_parameter_scale=2"},
                     "model"),
                EndsWith("parallel_block: false, qk_norm: false, experts: {count: 8, per_token: 2, "
                         "d_ff: 28672}}"));
    EXPECT_THAT(line({block + "qwen3_moe", "num_experts=128", "num_experts_per_tok=8",
                      "base_moe_mlp_dim=768", "use_qk_norm=true"},
                     "model"),
                EndsWith("qk_norm: true, experts: {count: 128, per_token: 8, d_ff: 768}}"));
    EXPECT_THAT(line({block + "qwen2", "attention_bias=true"}, "model"),
                EndsWith("qk_norm: false, biases: qkv}"));
    // That block reads neither.
    EXPECT_THAT(line({block + "llama2", "attention_bias=true", "use_qk_norm=true"}, "model"),
                EndsWith("parallel_block: false, qk_norm: false}"));
    EXPECT_EQ(import({block + "llama2", "num_experts=8"}).err,
              "warning: num_experts=8 is not expressed: the block llama2 has an MLP and no "
              "experts\n");
    refused({block + "deepseek"},
            "decoder_block=deepseek: decoder_block: 'deepseek' without a model_name; podsim takes "
            "dimensions for the blocks default, llama2, mistral, mixtral, qwen2, qwen3, qwen3_moe");
    refused({block + "mixtral", "num_experts=8", "base_moe_mlp_dim=768"},
            "base_moe_mlp_dim=768: base_moe_mlp_dim: 768 beside the 7168 of base_mlp_dim, which "
            "MaxText refuses of layers that all have experts; give both the same");
    refused({block + "mixtral", "num_experts=2", "num_experts_per_tok=4", "base_moe_mlp_dim=7168"},
            "num_experts_per_tok=4: num_experts_per_tok: 4 of 2 experts; give at most num_experts");
}

// A model of experts drops tokens by capacity_factor under any name.
TEST_F(MaxTextModels, OfExpertsHaveTheirKeys) {
    const std::vector<std::string> keys{"model_name=qwen3-30b-a3b", "capacity_factor=1.25",
                                        "sparse_matmul=false"};
    EXPECT_THAT(line(keys, "training"), HasSubstr("capacity_factor: 1.25, moe: {matmul: dense}"));
    EXPECT_THAT(
        line({"model_name=qwen3-8b", "capacity_factor=1.25", "sparse_matmul=false"}, "training"),
        ::testing::Not(HasSubstr("capacity_factor")));
}

// moe.py drops tokens above 0 and none at any other value; types.py accepts fewer values for
// two families.
TEST_F(MaxTextModels, CapacityFactorsMeanWhatMaxTextSays) {
    const auto training = [&](const std::string& factor) {
        return line(
            {"model_name=qwen3-30b-a3b", "sparse_matmul=false", "capacity_factor=" + factor},
            "training");
    };
    EXPECT_THAT(training("0.5"), HasSubstr("capacity_factor: 0.5, moe: {matmul: dense}"));
    for (const char* const factor : {"-1", "-5", "-0.25", "0"}) {
        EXPECT_EQ(training(factor), training("-1")) << factor;
        EXPECT_THAT(training(factor), ::testing::Not(HasSubstr("capacity_factor"))) << factor;
    }
    refused({"model_name=gpt-oss-20b", "sparse_matmul=false", "capacity_factor=-5"},
            "capacity_factor=-5: capacity_factor: MaxText takes -1 alone for gpt-oss without "
            "sparse_matmul; write -1, or sparse_matmul=true");
    refused({"model_name=llama4-17b-16e", "capacity_factor=1.25"},
            "capacity_factor=1.25: capacity_factor: MaxText takes values below 0 alone for llama4; "
            "write -1");
    EXPECT_EQ(import({"model_name=llama4-17b-16e", "capacity_factor=-5"}).status, 0);
}

TEST_F(MaxTextModels, AttentionsOutputIsNotItsResiduals) {
    const std::string custom = "remat_policy=custom";
    EXPECT_THAT(import({custom, "attention_out=device"}).err,
                StartsWith("warning: attention_out=device is not expressed: without the kernel's "
                           "residuals (context) attention runs again"));
    EXPECT_EQ(import({custom, "attention_out=device", "context=device"}).err, "");
    EXPECT_THAT(line({custom, "attention_out=device", "context=device"}, "training"),
                HasSubstr("remat: {save: [context]}"));
}

// decoders.py: without a policy a scanned layer is still wrapped in jax.checkpoint, which saves
// nothing. podsim's own names are not MaxText's.
TEST_F(MaxTextModels, NoPolicyRecomputesAll) {
    EXPECT_EQ(line({"model_name=llama3.1-8b", "remat_policy=none"}, "training"),
              line({"model_name=llama3.1-8b", "remat_policy=full"}, "training"));
    EXPECT_THAT(import({"model_name=llama3.1-8b", "remat_policy=none", "scan_layers=false"}).err,
                HasSubstr("warning: remat_policy=none is not expressed: layers apart: MaxText "
                          "recomputes all of them in its linen decoder and nothing in its nnx "
                          "decoder, here all\n"));
    EXPECT_THAT(import({"model_name=llama3.1-8b", "remat_policy=matmuls"}).err,
                HasSubstr("remat_policy: unknown policy 'matmuls'; allowed: custom, none, "));
}

// moe.py names only an expert's second first matmul moe_mlpwi_1, which minimal_policy does
// not list.
TEST_F(MaxTextModels, MinimalPoliciesKeepOneFirstMatmulOfAnExpert) {
    const std::string warning =
        "warning: remat_policy=minimal is not expressed: it keeps one of an expert's two first "
        "matmuls in MaxText (mlpwi_0, not moe_mlpwi_1), here both\n";
    EXPECT_THAT(import({"model_name=mixtral-8x7b", "remat_policy=minimal"}).err,
                HasSubstr(warning));
    EXPECT_THAT(import({"model_name=mixtral-8x7b", "remat_policy=full"}).err,
                Not(HasSubstr("first matmuls")));
    EXPECT_EQ(import({"model_name=llama3.1-8b", "remat_policy=minimal"}).err, "");
}

TEST_F(MaxTextModels, Fp8DoesNotAccumulate) {
    refused({"quantization=fp8", "gradient_accumulation_steps=2"},
            "quantization=fp8: quantization: fp8 beside gradient_accumulation_steps, which MaxText "
            "refuses; write fp8_full, or accumulate nothing");
}

// types.py, pipeline_parallel_layers: for DeepSeek all layers of experts.
TEST_F(MaxTextModels, PipelinesOfSomeLayersAreRefused) {
    refused({"model_name=deepseek3-671b", "ici_pipeline_parallelism=2"},
            "ici_pipeline_parallelism=2: ici_pipeline_parallelism: MaxText pipelines 58 of the 61 "
            "layers and runs the others on all devices, which is not modelled; write 1 way of it, "
            "or a scenario whose stages share all layers");
    refused({"model_name=llama3.1-8b", "ici_pipeline_parallelism=2", "pipeline_parallel_layers=30"},
            "ici_pipeline_parallelism=2: ici_pipeline_parallelism: MaxText pipelines 30 of the 32 "
            "layers and runs the others on all devices, which is not modelled; write 1 way of it, "
            "or a scenario whose stages share all layers");
    EXPECT_THAT(line({"model_name=llama3.1-8b", "ici_pipeline_parallelism=2",
                      "pipeline_parallel_layers=32"},
                     "training"),
                HasSubstr("microbatches: 2, schedule: interleaved, chunks: 16"));
}

}  // namespace
}  // namespace podsim::scenarios
