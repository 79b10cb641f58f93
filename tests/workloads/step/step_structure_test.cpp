// Steps of parallel blocks, latent and local attention, split key/value columns and experts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::compute_of;
using samples::find_op;
using samples::of_layer;
using samples::one_chip;
using samples::one_layer;
using ::testing::Contains;
using ::testing::ElementsAre;

TEST(Step, ParallelBlockGathersAndScattersOnce) {
    ModelSpec model = one_layer();
    model.parallel_block = true;
    model.norms = 1;
    TrainingPlan plan = one_chip();
    plan.ways.tensor = 2;
    const StepProgram program = build_step(model, plan);
    EXPECT_THAT(of_layer(program, Pass::forward),
                ElementsAre("gather layer input", "qkv", "attention", "out", "gate_up", "down",
                            "scatter layer output"));
    EXPECT_THAT(
        of_layer(program, Pass::backward),
        ElementsAre("gather layer output gradient", "down input gradient", "down weight gradient",
                    "gather layer input", "gate_up input gradient", "gate_up weight gradient",
                    "out input gradient", "out weight gradient", "attention gradient",
                    "qkv input gradient", "scatter layer input gradient", "qkv weight gradient"));
}

TEST(Step, LatentAttentionGathersItsLatents) {
    ModelSpec model = one_layer();
    model.kv_heads = 4;
    model.latent = {.q_rank = 8, .kv_rank = 6, .rope_dim = 2, .value_dim = 4};
    TrainingPlan plan = one_chip();
    plan.ways.tensor = 2;
    const StepProgram program = build_step(model, plan);
    EXPECT_THAT(of_layer(program, Pass::forward),
                ElementsAre("gather attention input", "latent", "gather latents", "qkv",
                            "attention", "out", "scatter attention output", "gather mlp input",
                            "gate_up", "down", "scatter mlp output"));
    const auto& gathered =
        std::get<Collective>(program.ops[find_op(program, "layer 0 forward gather latents")].work);
    EXPECT_EQ(gathered.bytes.value(), 32 * (8 + 6 + 2) * 2);
    // One query vector goes from 8 to N H / T = 8 columns,
    // one from 6 to N (H - rope + value) / T = 12.
    const Compute& up = compute_of(program, "layer 0 forward qkv");
    EXPECT_EQ(up.flops.value(), 2 * 32 * (8 * 8 + 6 * 12));
    EXPECT_EQ(compute_of(program, "layer 0 forward latent").flops.value(), 2 * 32 * 16 * 16 / 2);
    const std::vector<std::string> backward = of_layer(program, Pass::backward);
    EXPECT_THAT(std::vector<std::string>(backward.begin() + 10, backward.end()),
                ElementsAre("attention gradient", "gather attention input", "qkv input gradient",
                            "scatter latent gradient", "gather latents", "qkv weight gradient",
                            "latent input gradient", "scatter attention input gradient",
                            "latent weight gradient"));
}

// Tensor of 2 has one key/value head: its 2 x 4 columns are split and gathered (t x 8 x 2 bytes),
// and attention reads the whole head.
TEST(Step, OneKeyValueHeadIsSplitByColumns) {
    ModelSpec model = one_layer();
    model.kv_heads = 1;
    TrainingPlan plan = one_chip();
    plan.ways.tensor = 2;
    const StepProgram program = build_step(model, plan);
    EXPECT_THAT(of_layer(program, Pass::forward), Contains("gather columns of keys and values"));
    EXPECT_THAT(of_layer(program, Pass::backward),
                Contains("scatter columns of key and value gradient"));
    const OpIndex gather = find_op(program, "layer 0 forward gather columns of keys and values");
    EXPECT_EQ(std::get<Collective>(program.ops[gather].work).bytes.value(), 32 * 8 * 2);
    EXPECT_EQ(compute_of(program, "layer 0 forward qkv").flops.value(), 2 * 32 * 16 * (8 + 4));
    EXPECT_EQ(compute_of(program, "layer 0 forward attention").hbm.value(),
              2 * (32 * 8 * 2 + 32 * 8));
}

// S = 32, W = 8: 32 x 8 - 8^2 / 2 = 224 pairs of 4 heads of 4 + 4 columns, with two FLOPs each.
TEST(Step, LocalAttentionSeesItsWindow) {
    ModelSpec model = one_layer();
    model.window = 8;
    TrainingPlan plan = one_chip();
    const Compute local = compute_of(build_step(model, plan), "layer 0 forward attention");
    EXPECT_EQ(local.flops.value(), 2 * 4 * 8 * 224);
    EXPECT_EQ(local.matmuls[0].n, 8);
    EXPECT_EQ(local.matmuls[1].k, 8);
    // With context of 2, pieces of 8 queries have 32, 64, 64,
    // 64 pairs. In zig-zag order the ranks have 96 and 128.
    plan.ways.context = 2;
    EXPECT_EQ(compute_of(build_step(model, plan), "layer 0 forward attention").flops.value(),
              2 * 4 * 8 * 128);
}

ModelSpec with_experts() {
    ModelSpec model = one_layer();
    model.experts = {.count = 8, .per_token = 2, .shared = 1, .d_ff = 4};
    return model;
}

TEST(Step, TokensTravelToTheirExperts) {
    TrainingPlan plan = one_chip();
    plan.ways.expert = 4;
    plan.ways.tensor = 2;
    plan.batch.tokens = 32 * 4;
    const StepProgram program = build_step(with_experts(), plan);
    const std::vector<std::string> forward = of_layer(program, Pass::forward);
    EXPECT_THAT(
        std::vector<std::string>(forward.begin() + 6, forward.end()),
        ElementsAre("router", "gather mlp input", "shared gate_up", "shared down",
                    "scatter shared output", "exchange tokens", "gather tokens", "experts gate_up",
                    "experts down", "scatter expert output", "exchange expert output", "combine"));
    const std::vector<std::string> backward = of_layer(program, Pass::backward);
    EXPECT_THAT(
        std::vector<std::string>(backward.begin(), backward.begin() + 22),
        ElementsAre(
            "gather weights", "gather shared output gradient", "shared down input gradient",
            "shared down weight gradient", "gather mlp input", "shared gate_up input gradient",
            "scatter shared input gradient", "shared gate_up weight gradient", "combine gradient",
            "exchange expert output gradient", "gather expert output gradient",
            "experts down input gradient", "experts down weight gradient", "gather tokens",
            "experts gate_up input gradient", "scatter token gradient", "exchange token gradient",
            "experts gate_up weight gradient", "router input gradient", "router weight gradient",
            "gather attention output gradient", "out input gradient"));
    // Each of 16 rows goes to 2 experts: 16 x 2 x 16 x 2 bytes for each of 4 chips.
    const auto& exchange =
        std::get<Collective>(program.ops[find_op(program, "layer 0 forward exchange tokens")].work);
    EXPECT_EQ(exchange.operation, collectives::Operation::all_to_all);
    EXPECT_EQ(exchange.purpose, Purpose::expert);
    EXPECT_EQ(exchange.bytes.value(), 4 * 1024);
    // There are 32 x 2 tokens for the 2 experts of a chip, d_ff / T = 2, gated.
    const Compute& experts = compute_of(program, "layer 0 forward experts gate_up");
    EXPECT_EQ(experts.flops.value(), 2 * 64 * 16 * 4);
    ASSERT_EQ(experts.matmuls.size(), 1U);
    EXPECT_EQ(experts.matmuls[0].m, 32);
    EXPECT_EQ(experts.matmuls[0].count, 2);
    EXPECT_EQ(experts.hbm.value(), 2 * (64 * (16 + 4) + 2 * 16 * 4));
    EXPECT_EQ(compute_of(program, "layer 0 forward router").flops.value(), 2 * 16 * 16 * 8);
}

TEST(Step, TheMostLoadedExpertSetsThePace) {
    TrainingPlan plan = one_chip();
    const auto tokens = [&] {
        return compute_of(build_step(with_experts(), plan), "layer 0 forward experts down")
                   .flops.value() /
               (2 * 4 * 16);
    };
    EXPECT_EQ(tokens(), 64);
    plan.experts.capacity_factor = 1.25;
    EXPECT_EQ(tokens(), 80);
    plan.experts.capacity_factor = 1;
    plan.experts.imbalance = 1.5;
    EXPECT_EQ(tokens(), 64);  // one chip: imbalance cancels out
    plan.ways.expert = 2;
    plan.batch.tokens *= 2;
    EXPECT_EQ(tokens(), 96);
    const StepProgram program = build_step(with_experts(), plan);
    const OpIndex exchange = find_op(program, "layer 0 forward exchange tokens");
    EXPECT_EQ(std::get<Collective>(program.ops[exchange].work).bytes.value(), 2 * 96 * 16 * 2);
}

// With expert 4, fsdp 2, data 2, all weights except the routed experts
// are gathered and reduced over fsdp x expert. The 2 experts of a chip
// are gathered over fsdp, and their gradients' shards reduced over data.
TEST(Step, ExpertWeightsAreReducedWithoutTheExpertAxis) {
    TrainingPlan plan = one_chip();
    plan.ways.expert = 4;
    plan.ways.fsdp = plan.ways.data = 2;
    plan.batch.tokens = 32 * 16;
    const StepProgram program = build_step(with_experts(), plan);
    const LayerParameters count = count_layer(with_experts(), {.experts = true});
    const auto dense = static_cast<double>(count.total() - count.experts);
    const auto held = static_cast<double>(count.experts) / 4;
    const auto collective = [&](const std::string& name) {
        return std::get<Collective>(program.ops[find_op(program, "layer 0 " + name)].work);
    };
    using Axes = std::vector<std::string>;
    EXPECT_EQ(collective("forward gather weights").axes, (Axes{"fsdp", "expert"}));
    EXPECT_EQ(collective("forward gather weights").bytes.value(), 2 * dense);
    EXPECT_EQ(collective("backward gather expert weights").axes, Axes{"fsdp"});
    EXPECT_EQ(collective("backward gather expert weights").bytes.value(), 2 * held);
    EXPECT_EQ(collective("backward reduce-scatter gradients").bytes.value(), 2 * dense);
    EXPECT_EQ(collective("backward reduce-scatter expert gradients").axes, Axes{"fsdp"});
    EXPECT_EQ(collective("backward reduce-scatter expert gradients").bytes.value(), 2 * held);
    EXPECT_EQ(collective("backward all-reduce expert gradients").axes, Axes{"data"});
    EXPECT_EQ(collective("backward all-reduce expert gradients").bytes.value(), held);
    EXPECT_EQ(collective("backward all-reduce gradients").bytes.value(), 2 * dense / 8);
}

}  // namespace
}  // namespace podsim::workloads
