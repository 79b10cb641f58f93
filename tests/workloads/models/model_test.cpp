#include "workloads/models/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/program/memory_peak.h"

namespace podsim::workloads {
namespace {

using samples::message_of;

ModelSpec tiny_model() {
    return {.name = "tiny",
            .source = "this test",
            .layers = 2,
            .d_model = 8,
            .d_ff = 32,
            .heads = 4,
            .kv_heads = 2,
            .head_dim = 2,
            .vocabulary = 16};
}

// Exact counts of the sources that the catalogue names (huggingface.co's counts of the tensors;
// tables of the Gemma reports, embedding and other parameters added).
TEST(Model, PublishedParameterCountsFollowFromTheShapes) {
    const std::pair<const char*, std::int64_t> published[] = {
        {"llama-2-7b", 6'738'415'616},
        {"llama-2-13b", 13'015'864'320},
        {"llama-2-70b", 68'976'648'192},
        {"llama-3-8b", 8'030'261'248},
        {"llama-3-70b", 70'553'706'496},
        {"llama-3-405b", 405'853'388'800},
        {"gemma-2b", 524'550'144 + 1'981'884'416LL},
        {"gemma-7b", 786'825'216 + 7'751'248'896},
        {"gemma-2-9b", 917'962'752 + 8'324'201'984},
        {"gemma-2-27b", 1'180'237'824LL + 26'047'480'320},
        {"gemma-3-1b", 999'885'952},
        {"mistral-7b", 7'241'732'096},
        {"mixtral-8x7b", 46'702'792'704},
        {"deepseek-v3", 671'026'419'200},
    };
    for (const auto& [name, parameters] : published) {
        EXPECT_EQ(count_parameters(find_model(name)).total, parameters) << name;
    }
}

// Rounded counts: GPT-3's 174,600 million (table D.1), PaLM's 540.35 billion (table 1), Mixtral
// 8x22B's 141 billion, Gemma 3's millions without the embedding. A token uses 12.9 and 39 billion
// of Mixtral, and 37 billion of DeepSeek-V3 (36.6 without the lookup of the embedding).
TEST(Model, RoundedPublishedCounts) {
    const auto total = [](const char* name) {
        return static_cast<double>(count_parameters(find_model(name)).total);
    };
    const auto active = [](const char* name) {
        return static_cast<double>(count_parameters(find_model(name)).active);
    };
    EXPECT_NEAR(total("gpt-3-175b"), 174.600e9, 0.05e9);
    EXPECT_NEAR(total("palm-540b"), 540.35e9, 0.01e9);
    EXPECT_NEAR(total("mixtral-8x22b"), 141e9, 0.5e9);
    EXPECT_NEAR(total("gemma-3-12b") - 262144.0 * 3840, 10759e6, 0.5e6);
    EXPECT_NEAR(total("gemma-3-27b") - 262144.0 * 5376, 25600e6, 0.5e6);
    EXPECT_NEAR(active("mixtral-8x7b"), 12.9e9, 0.05e9);
    EXPECT_NEAR(active("mixtral-8x22b"), 39e9, 0.5e9);
    EXPECT_NEAR(active("deepseek-v3") - 129280.0 * 7168, 37e9, 0.5e9);
}

// DeepSeek-V3 by hand: D = 7168, N = 128, q 1536, kv 512, nope 128, rope 64, value 128, F = 18432,
// experts of 2048: 256 routed, 8 taken, 1 shared.
TEST(Model, LatentAttentionAndExpertsByHand) {
    const ModelSpec& model = find_model("deepseek-v3");
    const LayerParameters dense = count_layer(model, {});
    const LayerParameters experts = count_layer(model, {.experts = true});
    const std::int64_t attention = 7168 * 1536 + 1536 * 128 * 192 + 7168 * (512 + 64) +
                                   512 * 128 * (128 + 128) + 128 * 128 * 7168;
    EXPECT_EQ(attention, 187'105'280);
    EXPECT_EQ(dense.attention, attention);
    EXPECT_EQ(experts.attention, attention);
    EXPECT_EQ(dense.mlp, 3 * 7168 * 18432);
    EXPECT_EQ(dense.experts, 0);
    EXPECT_EQ(dense.vectors, 2 * 7168 + 1536 + 512);
    const std::int64_t expert = 3 * 7168 * 2048;
    EXPECT_EQ(experts.mlp, 256 * 7168 + expert);
    EXPECT_EQ(experts.experts, 256 * expert);
    EXPECT_EQ(experts.experts_taken, 8 * expert);
    EXPECT_EQ(experts.vectors, dense.vectors + 256);
    EXPECT_EQ(layer_kinds(model).at({}), 3);
    EXPECT_EQ(layer_kinds(model).at({.experts = true}), 58);
}

TEST(Model, LayersFollowThePattern) {
    const auto pattern = [](const ModelSpec& model, bool LayerKind::*part) {
        std::string text;
        for (std::int64_t layer = 0; layer < model.layers; ++layer) {
            text += layer_kind(model, layer).*part ? '1' : '0';
        }
        return text;
    };
    EXPECT_EQ(pattern(find_model("gemma-3-1b"), &LayerKind::local), "11111011111011111011111011");
    EXPECT_EQ(pattern(find_model("gemma-2-9b"), &LayerKind::local).substr(0, 4), "1010");
    EXPECT_EQ(layer_kinds(find_model("mistral-7b")).at({.local = true}), 32);
    ModelSpec model = tiny_model();
    model.layers = 8;
    model.experts = {.count = 4, .per_token = 1, .d_ff = 8, .first_dense = 1, .every = 3};
    EXPECT_EQ(pattern(model, &LayerKind::experts), "00010010");
}

// GPT-2's own shapes: V = 50257, 1024 positions, L = 12, D = 768; 124,439,808 parameters
// (huggingface.co/openai-community/gpt2).
TEST(Model, BiasesPositionsAndLayerNorms) {
    ModelSpec model = find_model("gpt-3-175b");
    model.layers = model.heads = model.kv_heads = 12;
    model.d_model = 768;
    model.d_ff = 3072;
    model.head_dim = 64;
    model.positions = 1024;
    EXPECT_EQ(count_layer(model, {}).vectors, 4 * 768 + 3 * 768 + 768 + 3072 + 768);
    EXPECT_EQ(count_parameters(model).total, 124'439'808);
}

TEST(Model, EveryCatalogueRowProvesItself) {
    for (const ModelSpec& model : model_catalogue()) {
        SCOPED_TRACE(model.name);
        EXPECT_NO_THROW(validate(model));
        EXPECT_FALSE(model.source.empty());
        EXPECT_LE(std::abs(count_parameters(model).total - model.published_parameters),
                  model.published_rounding);
        EXPECT_EQ(&find_model(model.name), &model);
    }
}

TEST(Model, CountsByPart) {
    ModelSpec model = tiny_model();
    const ParameterCount count = count_parameters(model);
    const LayerParameters layer = count_layer(model, {});
    EXPECT_EQ(layer.attention, 8 * 2 * (4 + 4 + 2 + 2));
    EXPECT_EQ(layer.mlp, 3 * 8 * 32);
    EXPECT_EQ(layer.vectors, 16);
    EXPECT_EQ(count.layers, 2 * (192 + 768 + 16));
    EXPECT_EQ(count.layers_matmul, 2 * (192 + 768));
    EXPECT_EQ(count.active, count.total);
    EXPECT_EQ(count.embedding, 128);
    EXPECT_EQ(count.unembedding, 128);
    EXPECT_EQ(count.final_norm, 8);
    EXPECT_EQ(count.total, 2 * (192 + 768 + 16) + 128 + 128 + 8);
    model.gated_mlp = false;
    model.tied_embeddings = true;
    EXPECT_EQ(count_parameters(model).total, 2 * (192 + 512 + 16) + 128 + 8);
}

TEST(Model, FlopsPerToken) {
    const FlopsPerToken full = training_flops_per_token(tiny_model(), 64, false);
    EXPECT_EQ(full.parameters, 6.0 * (2 * 976 + 264));
    EXPECT_EQ(full.matmul, 6.0 * (2 * 960 + 128));  // no norms, and one table of two
    EXPECT_EQ(full.executed(), full.matmul + full.attention);
    ModelSpec tied = tiny_model();
    tied.tied_embeddings = true;
    EXPECT_EQ(training_flops_per_token(tied, 64, false).matmul, full.matmul);
    EXPECT_EQ(full.attention, 12.0 * 64 * 4 * 2 * 2);  // 12 S N H L
    EXPECT_EQ(training_flops_per_token(tiny_model(), 64, true).attention, full.attention / 2);
}

// S = 64, W = 16, one global layer of two: 64^2 + 64
// x 16 pairs, causal 64^2 / 2 + 64 x 16 - 16^2 / 2.
TEST(Model, FlopsPerTokenOfLocalAttentionAndExperts) {
    ModelSpec model = tiny_model();
    model.window = 16;
    model.global_every = 2;
    const double per_pair = 12.0 * 4 * 2 / 64;  // 12 N H / S
    EXPECT_EQ(training_flops_per_token(model, 64, false).attention, per_pair * (4096 + 1024));
    EXPECT_EQ(training_flops_per_token(model, 64, true).attention, per_pair * (2048 + 1024 - 128));
    model.window = 100;  // longer than the sequence: no effect
    EXPECT_EQ(training_flops_per_token(model, 64, true).attention, per_pair * 4096);
    // 2 of 8 experts are taken: 6 x 3 x 8 x 4 in each of 2 layers are not.
    model.experts = {.count = 8, .per_token = 2, .d_ff = 4};
    const ParameterCount count = count_parameters(model);
    EXPECT_EQ(count.total - count.active, 2 * 6 * 3 * 8 * 4);
    EXPECT_EQ(training_flops_per_token(model, 64, true).parameters,
              6.0 * static_cast<double>(count.active));
    EXPECT_EQ(training_flops_per_token(model, 64, true).matmul,
              6.0 * static_cast<double>(count.layers_matmul + 128));
}

// How to Scale Your Model, section 6, rounds: 56.3e9 + 2.1e9 + 12.0e9 = 70.4e9 parameters.
TEST(Model, BookSection6Parameters) {
    const ModelSpec& model = find_model("llama-3-70b");
    const ParameterCount count = count_parameters(model);
    const auto layers = static_cast<double>(model.layers);
    const LayerParameters layer = count_layer(model, {});
    EXPECT_NEAR(layers * static_cast<double>(layer.mlp) / 56.3e9, 1, 0.015);
    EXPECT_NEAR(static_cast<double>(count.embedding + count.unembedding) / 2.1e9, 1, 0.015);
    EXPECT_NEAR(layers * static_cast<double>(layer.attention) / 12.0e9, 1, 0.015);
    EXPECT_NEAR(static_cast<double>(count.total) / 70.4e9, 1, 0.015);
}

// The text takes 6 x 70e9 (rounded down from 70.55e9:
// 0.8 %) and leaves out attention's dot products.
TEST(Model, BookSection6Flops) {
    const double per_token =
        training_flops_per_token(find_model("llama-3-70b"), 4096, true).parameters;
    EXPECT_NEAR(per_token / 4.2e11, 1, 0.015);
    EXPECT_NEAR(per_token * 15e12 / 6.3e24, 1, 0.015);
    EXPECT_EQ(6.0 * 70e9, 4.2e11);
}

// The text takes 70e9 parameters and 4e6 tokens (not
// 4 Mi = 4.19e6) and truncates 20.97e12 to 20.9e12.
TEST(Model, BookSection6Memory) {
    const BookMemory memory = book_memory(find_model("llama-3-70b"), 70e9, 4e6);
    EXPECT_EQ(memory.parameters.value(), 140e9);
    EXPECT_EQ(memory.optimizer.value(), 560e9);
    EXPECT_EQ(memory.checkpoints.value(), 4.0 * 4e6 * 8192 * 80 * 2);
    EXPECT_NEAR(memory.checkpoints.value() / 20.9e12, 1, 0.015);
    EXPECT_NEAR(memory.total().value() / 21.6e12, 1, 0.015);
    EXPECT_NEAR(memory.total().value() / 96e9 / 225, 1, 0.015);
    EXPECT_NEAR(memory.total().value() / 8960 / 2.4e9, 1, 0.015);
}

TEST(Model, UnknownNameHintsAtTheNearest) {
    EXPECT_EQ(message_of([] { find_model("llama-3-80b"); }),
              "unknown model 'llama-3-80b'; did you mean 'llama-3-8b'? allowed: llama-2-7b, "
              "llama-2-13b, llama-2-70b, llama-3-8b, llama-3-70b, llama-3-405b, gemma-2b, "
              "gemma-7b, gemma-2-9b, gemma-2-27b, gemma-3-1b, gemma-3-12b, gemma-3-27b, "
              "mistral-7b, mixtral-8x7b, mixtral-8x22b, gpt-3-175b, palm-540b, deepseek-v3");
    // 80 characters of a long name are quoted.
    EXPECT_THAT(message_of([] { find_model(std::string(1'000'000, 'x')); }),
                ::testing::StartsWith("unknown model '" + std::string(80, 'x') + "'; "));
}

TEST(Model, ImpossibleHyperparametersAreRefused) {
    ModelSpec model = tiny_model();
    model.layers = 0;
    EXPECT_EQ(message_of([&] { validate(model); }),
              "layers = 0 is out of range; allowed are 1 to 4096");
    model = tiny_model();
    model.d_ff = -4;
    EXPECT_EQ(message_of([&] { validate(model); }),
              "d_ff = -4 is out of range; allowed are 1 to 4194304");
    model = tiny_model();
    model.kv_heads = 3;
    EXPECT_EQ(message_of([&] { validate(model); }),
              "kv_heads = 3 does not divide heads = 4; every key/value head serves the same number "
              "of query heads");
    model.kv_heads = 8;
    EXPECT_EQ(message_of([&] { validate(model); }),
              "kv_heads = 8 is out of range; allowed are 1 to 4");
}

TEST(Model, ImpossibleStructuresAreRefused) {
    const auto refusal = [](auto&& edit) {
        ModelSpec model = tiny_model();
        edit(model);
        return message_of([&] { validate(model); });
    };
    EXPECT_EQ(refusal([](ModelSpec& m) { m.global_every = 2; }),
              "global_every without a window; give the window of local attention");
    EXPECT_EQ(refusal([](ModelSpec& m) { m.experts = {.count = 4, .per_token = 5, .d_ff = 8}; }),
              "experts.per_token = 5 is out of range; allowed are 1 to 4");
    EXPECT_EQ(
        refusal([](ModelSpec& m) { m.experts = {.count = 1 << 16, .per_token = 5, .d_ff = 1024}; }),
        "experts.d_ff = 1024 for 65536 experts is out of range; all experts of a layer have at "
        "most 16777216 columns");
    EXPECT_EQ(
        refusal([](ModelSpec& m) { m.latent = {.kv_rank = 4, .rope_dim = 1, .value_dim = 2}; }),
        "kv_heads = 2 beside latent attention; every head has keys and values of its own: leave "
        "kv_heads out, or write 4");
    EXPECT_EQ(refusal([](ModelSpec& m) {
                  m.kv_heads = 4;
                  m.latent = {.kv_rank = 4, .rope_dim = 3, .value_dim = 2};
              }),
              "latent.rope_dim = 3 is out of range; allowed are 0 to 2");
}

TEST(Model, TheLargestAcceptedModelIsCountedWithoutOverflow) {
    ModelSpec model = tiny_model();
    model.layers = ModelLimits::layers;
    model.d_model = ModelLimits::d_model;
    model.d_ff = ModelLimits::d_ff;
    model.heads = model.kv_heads = ModelLimits::heads;
    model.head_dim = ModelLimits::head_dim;
    model.vocabulary = ModelLimits::vocabulary;
    ASSERT_NO_THROW(validate(model));
    // The count is L (D H 4 N + 3 D F + 2 D) + 2 V D + D in powers of two.
    EXPECT_EQ(
        count_parameters(model).total,
        (1LL << 12) * ((1LL << 48) + 3 * (1LL << 42) + (1LL << 21)) + (1LL << 45) + (1LL << 20));
}

}  // namespace
}  // namespace podsim::workloads
