#include "workloads/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/support.h"
#include "workloads/memory.h"

namespace podsim::workloads {
namespace {

using testing::message_of;

ModelSpec tiny() {
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

TEST(Model, PublishedParameterCountsFollowFromTheShapes) {
    EXPECT_EQ(count_parameters(find_model("llama-2-13b")).total, 13'015'864'320);
    EXPECT_EQ(count_parameters(find_model("llama-3-8b")).total, 8'030'261'248);
    EXPECT_EQ(count_parameters(find_model("llama-3-70b")).total, 70'553'706'496);
}

TEST(Model, EveryCatalogueRowProvesItself) {
    for (const ModelSpec& model : model_catalogue()) {
        SCOPED_TRACE(model.name);
        EXPECT_NO_THROW(validate(model));
        EXPECT_FALSE(model.source.empty());
        EXPECT_EQ(count_parameters(model).total, model.published_parameters);
        EXPECT_EQ(&find_model(model.name), &model);
    }
}

TEST(Model, CountsByPart) {
    ModelSpec model = tiny();
    const ParameterCount count = count_parameters(model);
    EXPECT_EQ(count.attention_per_layer, 8 * 2 * (4 + 4 + 2 + 2));
    EXPECT_EQ(count.mlp_per_layer, 3 * 8 * 32);
    EXPECT_EQ(count.norms_per_layer, 16);
    EXPECT_EQ(count.embedding, 128);
    EXPECT_EQ(count.unembedding, 128);
    EXPECT_EQ(count.final_norm, 8);
    EXPECT_EQ(count.total, 2 * (192 + 768 + 16) + 128 + 128 + 8);
    model.gated_mlp = false;
    model.tied_embeddings = true;
    EXPECT_EQ(count_parameters(model).total, 2 * (192 + 512 + 16) + 128 + 8);
}

TEST(Model, FlopsPerToken) {
    const FlopsPerToken full = training_flops_per_token(tiny(), 64, false);
    EXPECT_EQ(full.parameters, 6.0 * (2 * 976 + 264));
    EXPECT_EQ(full.attention, 12.0 * 64 * 4 * 2 * 2);  // 12 S N H L
    EXPECT_EQ(training_flops_per_token(tiny(), 64, true).attention, full.attention / 2);
}

// How to Scale Your Model, section 6. The text rounds: 56.3e9 + 2.1e9 + 12.0e9 = 70.4e9 parameters.
TEST(Model, BookSection6Parameters) {
    const ModelSpec& model = find_model("llama-3-70b");
    const ParameterCount count = count_parameters(model);
    const auto layers = static_cast<double>(model.layers);
    EXPECT_NEAR(layers * static_cast<double>(count.mlp_per_layer) / 56.3e9, 1, 0.015);
    EXPECT_NEAR(static_cast<double>(count.embedding + count.unembedding) / 2.1e9, 1, 0.015);
    EXPECT_NEAR(layers * static_cast<double>(count.attention_per_layer) / 12.0e9, 1, 0.015);
    EXPECT_NEAR(static_cast<double>(count.total) / 70.4e9, 1, 0.015);
}

// The text takes 6 x 70e9 (rounded down from 70.55e9: 0.8 %) and leaves attention's dot
// products out.
TEST(Model, BookSection6Flops) {
    const double per_token =
        training_flops_per_token(find_model("llama-3-70b"), 4096, true).parameters;
    EXPECT_NEAR(per_token / 4.2e11, 1, 0.015);
    EXPECT_NEAR(per_token * 15e12 / 6.3e24, 1, 0.015);
    EXPECT_EQ(6.0 * 70e9, 4.2e11);
}

// The text takes 70e9 parameters and 4e6 tokens (not 4 Mi = 4.19e6) and truncates 20.97e12
// to 20.9e12.
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
              "unknown model 'llama-3-80b'; did you mean 'llama-3-8b'? allowed: llama-2-13b, "
              "llama-3-8b, llama-3-70b");
    EXPECT_THAT(message_of([] { find_model(std::string(1'000'000, 'x')); }),
                ::testing::SizeIs(::testing::Lt(1000)));
}

TEST(Model, ImpossibleHyperparametersAreRefused) {
    ModelSpec model = tiny();
    model.layers = 0;
    EXPECT_EQ(message_of([&] { validate(model); }),
              "layers = 0 is out of range; allowed are 1 to 4096");
    model = tiny();
    model.d_ff = -4;
    EXPECT_EQ(message_of([&] { validate(model); }),
              "d_ff = -4 is out of range; allowed are 1 to 4194304");
    model = tiny();
    model.kv_heads = 3;
    EXPECT_EQ(message_of([&] { validate(model); }),
              "kv_heads = 3 does not divide heads = 4; every key/value head serves the same number "
              "of query heads");
    model.kv_heads = 8;
    EXPECT_EQ(message_of([&] { validate(model); }),
              "kv_heads = 8 is out of range; allowed are 1 to 4");
}

TEST(Model, TheLargestAcceptedModelIsCountedWithoutOverflow) {
    ModelSpec model = tiny();
    model.layers = ModelLimits::layers;
    model.d_model = ModelLimits::d_model;
    model.d_ff = ModelLimits::d_ff;
    model.heads = model.kv_heads = ModelLimits::heads;
    model.head_dim = ModelLimits::head_dim;
    model.vocabulary = ModelLimits::vocabulary;
    ASSERT_NO_THROW(validate(model));
    // L (D H 4 N + 3 D F + 2 D) + 2 V D + D in powers of two.
    EXPECT_EQ(
        count_parameters(model).total,
        (1LL << 12) * ((1LL << 48) + 3 * (1LL << 42) + (1LL << 21)) + (1LL << 45) + (1LL << 20));
}

}  // namespace
}  // namespace podsim::workloads
