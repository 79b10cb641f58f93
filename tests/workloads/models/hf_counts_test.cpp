// Published parameter counts of architectures, from their public keys.
#include <gtest/gtest.h>
#include <string>

#include "tests/checkout.h"
#include "workloads/models/hf_config.h"

namespace podsim::workloads {
namespace {

HfReading reading_of(const std::string& name) {
    return read_hf_config_fully(source_folder() + "/tests/workloads/configs/" + name + ".json");
}

std::int64_t parameters_of(const std::string& name) {
    return count_parameters(reading_of(name).model).total;
}

std::int64_t with_further_token(const std::string& name) {
    ModelSpec model = reading_of(name).model;
    model.mtp_layers = 1;
    return count_parameters(model).total;
}

struct Published {
    const char* name;
    std::int64_t parameters;
};

// Counts of the tensors in these repositories on huggingface.co. In November 2026 they were
// compared with other published figures (KerasHub's presets, totals of safetensors files and
// indices, llama.cpp's n_params, model cards). They are equal to the last digit, except those
// marked "rounded", for which no more precise figure was found, and Falcon.
TEST(HfCounts, are_the_published_ones) {
    const Published published[] = {
        // clang-format off
        {"phi-3-mini-4k", 3'821'079'552},  // microsoft/Phi-3-mini-4k-instruct
        {"phi-2", 2'779'683'840},  // microsoft/phi-2
        {"olmo-7b", 6'888'095'744},  // allenai/OLMo-7B-hf
        {"olmo-2-7b", 7'298'617'344},  // allenai/OLMo-2-1124-7B
        {"olmoe-1b-7b", 6'919'161'856},  // allenai/OLMoE-1B-7B-0924
        {"starcoder2-3b", 3'030'371'328},  // bigcode/starcoder2-3b, rounded
        {"stablelm-2-1.6b", 1'644'515'328},  // stabilityai/stablelm-2-1_6b
        // tiiuae/falcon-7b: its files hold the table twice, its config ties them.
        {"falcon-7b", 7'217'189'760 - 65024 * 4544},
        // tiiuae/falcon-40b: bytes of its index; the table is there twice too.
        {"falcon-40b", 83'671'941'120 / 2 - 65024 * 8192},
        {"gpt-j-6b", 6'050'882'784},  // EleutherAI/gpt-j-6b
        {"starcoder", 15'517'456'384},  // bigcode/starcoder
        {"opt-6.7b", 6'658'473'984},  // facebook/opt-6.7b
        {"glm-4-9b", 9'399'951'360},  // THUDM/glm-4-9b-hf
        {"glm-4-9b-0414", 9'400'279'040},  // THUDM/GLM-4-9B-0414
        // GLM-4.5 technical report: 106852245504 without the routers' 45 x 128 biases; without
        // multi-token prediction.
        {"glm-4.5-air", 106'852'251'264},
        // zai-org/GLM-4.7-Flash, rounded: 55.79 GiB as bf16 in llama.cpp; keys: the defaults of
        // transformers' Glm4MoeLiteConfig; without multi-token prediction.
        {"glm-4.7-flash", 29'943'393'920},
        {"gpt-oss-20b", 20'914'757'184},  // openai/gpt-oss-20b
        {"gpt-oss-120b", 116'829'156'672},  // openai/gpt-oss-120b
        {"llama-4-scout", 107'769'861'120},  // meta-llama/Llama-4-Scout-17B-16E: text model
        {"llama-4-maverick", 400'711'848'960},  // meta-llama/Llama-4-Maverick-17B-128E: text model
        // google/gemma-3-27b-it: 27432406640 less vision
        // (416866032) and projector (1152 x 5376 + 1152).
        {"gemma-3-27b", 27'009'346'304},
        // google/gemma-3-4b-it: 4300079472 less vision
        // (416866032) and projector (1152 x 2560 + 1152).
        {"gemma-3-4b", 3'880'263'168},
        {"gemma-4-31b", 30'697'345'280},  // google/gemma-4-31B, rounded: 30.7 billion
        // google/gemma-4-26B-A4B, rounded: 25.2 billion, 3.8 for a token.
        {"gemma-4-26b-a4b", 25'232'800'000},
        // mistralai/Mistral-Small-24B-Base-2501: its text model.
        {"mistral-small-3.1", 23'572'403'200},
        {"kimi-k2", 1'026'408'232'448},  // moonshotai/Kimi-K2-Instruct
        {"command-r", 34'980'831'232},  // CohereForAI/c4ai-command-r-v01, rounded
        {"command-r-plus", 103'810'674'688},  // CohereForAI/c4ai-command-r-plus, rounded
        // CohereForAI/c4ai-command-r7b-12-2024, rounded;
        // aya-expanse-8b, of the same shape, has exactly this count.
        {"command-r7b", 8'028'033'024},
        {"granite-3.0-8b", 8'170'848'256},  // ibm-granite/granite-3.0-8b-base
        {"granite-3.0-1b-a400m", 1'334'628'352},  // ibm-granite/granite-3.0-1b-a400m-base
        {"qwen1.5-moe-a2.7b", 14'315'784'192},  // Qwen/Qwen1.5-MoE-A2.7B
        {"qwen2.5-vl-7b", 7'615'616'512},  // Qwen/Qwen2.5-7B: its text model
        {"qwen3-235b-a22b", 235'093'634'560},  // Qwen/Qwen3-235B-A22B
        {"qwen3-0.6b", 596'049'920},  // Qwen/Qwen3-0.6B
        {"smollm3-3b", 3'075'098'624},  // HuggingFaceTB/SmolLM3-3B
        {"ernie-4.5-0.3b", 360'748'032},  // baidu/ERNIE-4.5-0.3B-PT
        {"seed-oss-36b", 36'151'104'512},  // ByteDance-Seed/Seed-OSS-36B-Base
        {"exaone-4.0-1.2b", 1'279'391'488},  // LGAI-EXAONE/EXAONE-4.0-1.2B
        {"exaone-4.0-32b", 32'003'216'384},  // LGAI-EXAONE/EXAONE-4.0-32B
        {"exaone-3.5-7.8b", 7'818'448'896},  // LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct, rounded
        {"internlm2.5-7b", 7'737'708'544},  // internlm/internlm2_5-7b
        {"internlm3-8b", 8'804'241'408},  // internlm/internlm3-8b-instruct, rounded
        {"phi-3.5-moe", 41'873'153'344},  // microsoft/Phi-3.5-MoE-instruct
        {"dots.llm1", 142'774'381'696},  // rednote-hilab/dots.llm1.base
        {"deepseek-v2", 235'741'434'880},  // deepseek-ai/DeepSeek-V2
        {"ernie-4.5-21b-a3b", 21'825'437'888},  // baidu/ERNIE-4.5-21B-A3B-PT, rounded
        {"minimax-m2", 228'689'764'864},  // MiniMaxAI/MiniMax-M2
        {"olmo-3-7b", 7'298'011'136},  // allenai/Olmo-3-1025-7B
        {"olmo-3-32b", 32'233'522'176},  // allenai/Olmo-3-1125-32B
        {"deepseek-moe-16b", 16'375'728'128},  // deepseek-ai/deepseek-moe-16b-base
        {"minicpm-2b", 2'724'880'896},  // openbmb/MiniCPM-2B-sft-bf16
        // XiaomiMiMo/MiMo-7B-Base, less multi-token prediction:
        // a layer, a projection of two inputs, three norms.
        {"mimo-7b", 7'833'409'536 - 177'223'680 - 2 * 4096 * 4096 - 3 * 4096},
        // clang-format on
    };
    for (const auto& [name, parameters] : published) {
        EXPECT_EQ(parameters_of(name), parameters) << name;
    }
}

// The count lacks only a final norm that MiMo's layer of a further token has.
TEST(HfCounts, WithALayerOfAFurtherToken) {
    EXPECT_EQ(with_further_token("mimo-7b"), 7'833'409'536 - 4096);
}

// MaxText counts 298.786 billion for Hunyuan 3, with a layer that predicts a further token (3.719)
// and its projection of two inputs (0.034). Minitron has 4.19 billion, MiniCPM3 4.07, Hunyuan-A13B
// 80.4, StableLM 2 12.14.
TEST(HfCounts, are_near_the_rounded_ones) {
    EXPECT_NEAR(static_cast<double>(parameters_of("hunyuan-3")),
                298.786e9 - 3.7193e9 - 2 * 4096.0 * 4096, 1e6);
    EXPECT_NEAR(static_cast<double>(with_further_token("hunyuan-3")), 298.786e9, 1e6);
    EXPECT_NEAR(static_cast<double>(parameters_of("minitron-4b")), 4.19e9, 5e6);
    EXPECT_NEAR(static_cast<double>(parameters_of("minicpm3-4b")), 4.07e9, 5e6);
    EXPECT_NEAR(static_cast<double>(parameters_of("hunyuan-a13b")), 80.4e9, 5e7);
    EXPECT_NEAR(static_cast<double>(parameters_of("stablelm-2-12b")), 12.14e9, 5e6);
}

// A token uses 5.13 (3.61) of the 117 (21) billion of gpt-oss; its card does not count the
// embedding there. It uses 17 billion of Maverick and Scout, 21 of DeepSeek-V2, 14 of dots.llm1, 32
// of Kimi K2 and 22 of Qwen3-235B.
TEST(HfCounts, of_a_token_are_the_published_ones) {
    const auto active = [](const std::string& name) {
        return static_cast<double>(count_parameters(reading_of(name).model).active) / 1e9;
    };
    const auto table = [](const std::string& name) {
        return static_cast<double>(count_parameters(reading_of(name).model).embedding) / 1e9;
    };
    EXPECT_NEAR(active("gpt-oss-120b") - table("gpt-oss-120b"), 5.13, 0.005);
    EXPECT_NEAR(active("gpt-oss-20b") - table("gpt-oss-20b"), 3.61, 0.005);
    EXPECT_NEAR(active("llama-4-scout"), 17, 0.2);
    EXPECT_NEAR(active("llama-4-maverick"), 17, 0.2);
    EXPECT_NEAR(active("deepseek-v2"), 21, 0.5);
    EXPECT_NEAR(active("dots.llm1"), 14, 0.1);
    EXPECT_NEAR(active("kimi-k2"), 32.5, 0.5);
    EXPECT_NEAR(active("qwen3-235b-a22b"), 22, 0.2);
}

TEST(HfCounts, every_key_of_these_files_is_known) {
    for (const char* name :
         {"phi-2", "falcon-40b", "gpt-oss-20b", "kimi-k2", "opt-6.7b", "glm-4.7-flash"}) {
        EXPECT_TRUE(reading_of(name).unknown.empty()) << name;
    }
}

// Each expert of gpt-oss has 2 F + D biases, its router 128, its heads 64 sinks.
TEST(HfCounts, biases_are_counted_with_what_they_belong_to) {
    const ModelSpec model = reading_of("gpt-oss-120b").model;
    const LayerParameters layer = count_layer(model, {.experts = true});
    EXPECT_EQ(layer.expert_vectors, 128 * (2 * 2880 + 2880));
    EXPECT_EQ(layer.expert_vectors_taken, 4 * (2 * 2880 + 2880));
    EXPECT_EQ(layer.vectors, 2 * 2880 + (64 + 2 * 8) * 64 + 2880 + 64 + 128);
    EXPECT_EQ(layer.mlp, 2880 * 128);
}

// Every second layer has experts beside one shared, the dense MLPs are twice as wide, and attention
// has chunks, not windows.
TEST(HfCounts, maverick_interleaves) {
    const ModelSpec model = reading_of("llama-4-maverick").model;
    EXPECT_EQ(layer_kinds(model), (std::map<LayerKind, std::int64_t>{{{.experts = false}, 24},
                                                                     {{.experts = true}, 24}}));
    EXPECT_EQ(count_layer(model, {.experts = true}).mlp, 5120 * (128 + 3 * 8192));
    EXPECT_EQ(count_layer(model, {}).mlp, 3 * 5120 * 16384);
    EXPECT_EQ(model.chunk, 8192);
}

// Gemma 4 has sizes for global layers; the mixture takes
// 8 of 128 experts of 704 columns beside an MLP of 2112.
TEST(HfCounts, global_layers_have_sizes_of_their_own) {
    const HfReading reading = reading_of("gemma-4-26b-a4b");
    const ModelSpec& model = reading.model;
    EXPECT_EQ(model.global, (GlobalAttention{.kv_heads = 2, .head_dim = 512, .shared_kv = true}));
    EXPECT_EQ(model.global_every, 6);
    EXPECT_EQ(model.window, 1024);
    EXPECT_TRUE(model.qk_norm && model.v_norm && model.tied_embeddings);
    EXPECT_EQ(count_layer(model, {.experts = true}).experts_taken, 8 * 3 * 2816 * 704);
    EXPECT_EQ(count_layer(model, {.experts = true}).mlp, 2816 * (128 + 3 * 2112));
    EXPECT_EQ(count_parameters(model).active, 25'232'800'000 - 30LL * 120 * 3 * 2816 * 704);
    EXPECT_EQ(reading.notes.back(),
              "three norms of a layer with experts, and scales of its router, are left out");
}

TEST(HfCounts, windows_come_from_layer_types) {
    const ModelSpec exaone = reading_of("exaone-4.0-32b").model;
    EXPECT_EQ(exaone.window, 4096);
    EXPECT_EQ(exaone.global_every, 4);
    const ModelSpec oss = reading_of("gpt-oss-20b").model;
    EXPECT_TRUE(layer_kind(oss, 0).local);
    EXPECT_FALSE(layer_kind(oss, 1).local);
}

}  // namespace
}  // namespace podsim::workloads
