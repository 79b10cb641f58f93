// The size of each dimension on one chip, for axis sizes without common factors.
#include "workloads/work/shard.h"

#include <gtest/gtest.h>

#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {
namespace {

// D = 60, F = 84, N = 42, K = 21, H = 8, V = 126.
ModelSpec model() {
    return {.name = "shards",
            .source = "this test",
            .layers = 1,
            .d_model = 60,
            .d_ff = 84,
            .heads = 42,
            .kv_heads = 21,
            .head_dim = 8,
            .vocabulary = 126};
}

// 24 sequences of 210 tokens lie on data 2 x expert 1 x fsdp 1 and two microbatches: 6 a shard;
// context 5, tensor 7 x 3.
TrainingPlan plan() {
    TrainingPlan plan;
    plan.batch = {.tokens = 24 * 210, .sequence = 210, .microbatches = 2};
    plan.ways.data = 2;
    plan.ways.context = 5;
    plan.ways.tensor = 7;
    plan.ways.tensor_transpose = 3;
    return plan;
}

TEST(Shard, TokensAndSizes) {
    const Shard s = make_shard(model(), plan(), {.context = 4});
    EXPECT_EQ(s.tokens, 6 * 210 / 5);
    EXPECT_EQ(s.rows, 12);
    EXPECT_EQ(s.sequences, 6);
    EXPECT_EQ(s.sequence, 210);
    EXPECT_EQ(s.context, 5);
    EXPECT_EQ(s.rank, 4);
    EXPECT_EQ(s.transposed, 3);
    EXPECT_EQ(s.d_model, 60);
    EXPECT_EQ(s.d_ff, 4);
    EXPECT_EQ(s.heads, 2);
    EXPECT_EQ(s.kv_heads, 1);
    EXPECT_EQ(s.all_kv_heads, 21);
    EXPECT_FALSE(s.kv_split_by_columns);
    EXPECT_EQ(s.head_dim, 8);
    EXPECT_EQ(s.value_dim, 8);
    EXPECT_EQ(s.vocabulary, 6);
    EXPECT_EQ(s.branches, 2);
    EXPECT_EQ(s.norms_of_block, 1);
    EXPECT_EQ(s.block_rows(), 20);
    EXPECT_EQ(s.block_columns(4), 12);
    EXPECT_EQ(s.qkv_width(), 2 * 8 + 1 * (8 + 8));
    EXPECT_EQ(s.attended_width(), 16);
    EXPECT_EQ(s.kv_elements(), 252 * 5 * 1 * 16);
    EXPECT_TRUE(s.rotary);
    EXPECT_FALSE(s.positions);
    EXPECT_FALSE(s.layer_norm);
    EXPECT_FALSE(s.qk_norm);
    EXPECT_FALSE(s.parallel_block);
}

TEST(Shard, FollowsTheModel) {
    ModelSpec odd = model();
    odd.kv_heads = 1;
    odd.heads = 42;
    odd.gated_mlp = false;
    odd.positions = 5;
    odd.norm = Norm::layer;
    odd.norms = 3;
    odd.qk_norm = true;
    odd.window = 9;
    const Shard s = make_shard(odd, plan());
    EXPECT_TRUE(s.kv_split_by_columns);
    EXPECT_EQ(s.kv_elements(), 252 * 5 * 1 * 16);  // the one head, whole
    EXPECT_EQ(s.branches, 1);
    EXPECT_FALSE(s.rotary);
    EXPECT_TRUE(s.positions);
    EXPECT_TRUE(s.layer_norm);
    EXPECT_EQ(s.norms_of_block, 1.5);
    EXPECT_TRUE(s.qk_norm);
    EXPECT_EQ(s.window, 9);
    odd.parallel_block = true;
    EXPECT_EQ(make_shard(odd, plan()).norms_of_block, 3);
    EXPECT_TRUE(make_shard(odd, plan()).parallel_block);
}

// Pieces have 210 / 10 = 21 keys in zig-zag order, 42 in contiguous blocks; a window of W reaches
// back ceil((W - 1) / piece).
TEST(Shard, PiecesOfSequences) {
    ModelSpec local = model();
    TrainingPlan p = plan();
    const auto reach = [&](std::int64_t window) {
        local.window = window;
        return make_shard(local, p).reach();
    };
    EXPECT_EQ(make_shard(local, p).piece(), 21);
    EXPECT_EQ(make_shard(local, p).pieces_of_rank(), 2);
    EXPECT_FALSE(make_shard(local, p).plain);
    EXPECT_EQ(reach(1), 0);
    EXPECT_EQ(reach(2), 1);
    EXPECT_EQ(reach(22), 1);
    EXPECT_EQ(reach(23), 2);
    EXPECT_EQ(reach(10000), 9);
    p.attention.placement = Placement::plain;
    EXPECT_EQ(make_shard(local, p).piece(), 42);
    EXPECT_EQ(make_shard(local, p).pieces_of_rank(), 1);
    EXPECT_TRUE(make_shard(local, p).plain);
    EXPECT_EQ(reach(43), 1);
    EXPECT_EQ(reach(44), 2);
    EXPECT_EQ(reach(10000), 4);
    p.attention.causal = false;
    EXPECT_FALSE(make_shard(local, p).plain);
    EXPECT_FALSE(make_shard(local, p).causal);
    p = plan();
    p.attention.placement = Placement::plain;
    p.ways.context = 1;
    EXPECT_FALSE(make_shard(local, p).plain);
}

// Weights are read in the width of their gather, or as they are stored; with ZeRO-1 and 2 the
// narrower copy counts.
TEST(Shard, WidthsOfWeights) {
    TrainingPlan p = plan();
    p.ways = {.data = 2};
    p.precision = {.compute = 2, .parameters = 4, .matmul = MatmulDtype::int8};
    Shard s = make_shard(model(), p);
    EXPECT_FALSE(s.weights_gathered);
    EXPECT_EQ(s.weight_bytes, 4);
    EXPECT_EQ(s.plain_weight_bytes, 4);
    p.zero = 1;
    s = make_shard(model(), p);
    EXPECT_EQ(s.weight_bytes, 2);
    EXPECT_EQ(s.plain_weight_bytes, 2);
    p.zero = 0;
    for (int Ways::*axis : {&Ways::fsdp, &Ways::context, &Ways::expert}) {
        p.ways = {};
        p.ways.*axis = 2;
        s = make_shard(model(), p);
        EXPECT_TRUE(s.weights_gathered);
        EXPECT_EQ(s.weight_bytes, 1);
        EXPECT_EQ(s.plain_weight_bytes, 2);
    }
}

// 8 experts of 42 columns, 3 a token, lie on 4 ranks: 24 sequences over 4 shards, t = 6 x 210.
TEST(Shard, ExpertsAndTheirTokens) {
    ModelSpec experts = model();
    experts.experts = {.count = 8, .per_token = 3, .shared = 2, .d_ff = 42};
    TrainingPlan p = plan();
    p.batch.microbatches = 1;
    p.ways = {.tensor = 7, .expert = 4};
    p.precision.parameters = 4;
    Shard s = make_shard(experts, p);
    EXPECT_EQ(s.tokens, 6 * 210);
    EXPECT_EQ(s.experts.routed, 8);
    EXPECT_EQ(s.experts.held, 2);
    EXPECT_EQ(s.experts.per_token, 3);
    EXPECT_EQ(s.experts.copies, 3 * 1260);
    EXPECT_EQ(s.experts.tokens, 3 * 1260);
    EXPECT_EQ(s.experts.d_ff, 6);
    EXPECT_EQ(s.experts.shared_width, 12);
    // Dense weights are gathered over expert, those of experts are not gathered.
    EXPECT_TRUE(s.weights_gathered);
    EXPECT_FALSE(s.experts.gathered);
    EXPECT_EQ(s.experts.weight_bytes, 4);
    p.experts.imbalance = 1.5;
    EXPECT_EQ(make_shard(experts, p).experts.tokens, 1.5 * 3 * 1260);
    p.experts = {.capacity_factor = 1.25};
    EXPECT_EQ(make_shard(experts, p).experts.copies, 1.25 * 3 * 1260);
    // Every rank has its own load; the copies that a chip's own tokens make are the mean.
    p.experts = {.loads = {2, 1, 0.5, 0.5}};
    EXPECT_EQ(make_shard(experts, p, {.expert = 0}).experts.tokens, 2 * 3 * 1260);
    EXPECT_EQ(make_shard(experts, p, {.expert = 3}).experts.tokens, 0.5 * 3 * 1260);
    EXPECT_EQ(make_shard(experts, p, {.expert = 3}).experts.copies, 3 * 1260);
    p.experts = {.imbalance = 1.5};
    p.ways.expert = 1;
    p.ways.fsdp = 4;
    s = make_shard(experts, p);
    EXPECT_EQ(s.experts.tokens, 3 * 1260);  // one chip has all experts
    EXPECT_TRUE(s.experts.gathered);
    EXPECT_EQ(s.experts.weight_bytes, 2);
}

TEST(Shard, Latents) {
    ModelSpec latent = model();
    latent.kv_heads = 42;
    latent.latent = {.q_rank = 14, .kv_rank = 21, .rope_dim = 7, .value_dim = 5};
    TrainingPlan p = plan();
    p.ways = {.tensor = 7};
    Shard s = make_shard(latent, p);
    EXPECT_EQ(s.value_dim, 5);
    EXPECT_EQ(s.latent.ways, 7);
    EXPECT_EQ(s.latent.width, 42);
    EXPECT_EQ(s.latent.q_rank, 14);
    EXPECT_EQ(s.latent.kv_rank, 21);
    EXPECT_EQ(s.latent.rope_dim, 7);
    EXPECT_EQ(s.latent.direct, 0);
    EXPECT_EQ(s.latent.columns(), 6);
    latent.latent.q_rank = 0;
    s = make_shard(latent, p);
    EXPECT_EQ(s.latent.width, 28);
    EXPECT_EQ(s.latent.direct, 6 * 8);
    EXPECT_EQ(s.latent.columns(), 4 + 48);
    EXPECT_EQ(make_shard(model(), p).latent.width, 0);
}

TEST(Shard, WhatRematMakesAgainInsideOfOperations) {
    ModelSpec m = model();
    TrainingPlan p = plan();
    const auto again = [&](TensorSet save) {
        p.remat = {.policy = RematPolicy::named, .names = {.save = save}};
        const Shard s = make_shard(m, p);
        return (s.attention_norms_again ? 1 : 0) + (s.mlp_norms_again ? 2 : 0) +
               (s.activations_again ? 4 : 0);
    };
    using enum LayerTensor;
    EXPECT_EQ(again({}), 4);
    EXPECT_EQ(again({qkv}), 1 + 4);
    EXPECT_EQ(again({gate_up}), 2 + 4);
    EXPECT_EQ(again({qkv, gate_up, hidden}), 1 + 2);
    // One norm serves both blocks: it is computed again
    // with either, and for attention also if the MLP's is.
    m.parallel_block = true;
    EXPECT_EQ(again({qkv, hidden}), 0);
    EXPECT_EQ(again({qkv, gate_up, hidden}), 1 + 2);
    for (const RematPolicy policy : {RematPolicy::none, RematPolicy::block}) {
        p.remat = {.policy = policy};
        const Shard s = make_shard(m, p);
        EXPECT_FALSE(s.attention_norms_again || s.mlp_norms_again || s.activations_again);
    }
    p.remat = {.policy = RematPolicy::matmuls};
    const Shard s = make_shard(m, p);
    EXPECT_TRUE(s.attention_norms_again && s.mlp_norms_again && s.activations_again);
}

}  // namespace
}  // namespace podsim::workloads
