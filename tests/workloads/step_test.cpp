#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/workloads/support.h"
#include "workloads/accounting.h"
#include "workloads/plan.h"

namespace podsim::workloads {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::find_op;
using ::testing::Not;
using testing::Random;

ModelSpec one_layer() {
    return {.name = "one layer",
            .source = "this test",
            .layers = 1,
            .d_model = 16,
            .d_ff = 32,
            .heads = 4,
            .kv_heads = 2,
            .head_dim = 4,
            .vocabulary = 64};
}

TrainingPlan one_chip() {
    TrainingPlan plan;
    plan.tokens = plan.sequence = 32;
    plan.remat = Remat::none;
    return plan;
}

const Compute& compute_of(const StepProgram& program, const std::string& name) {
    return std::get<Compute>(program.ops[find_op(program, name)].work);
}

TEST(Step, OneChipRunsTheBareSequence) {
    EXPECT_THAT(
        testing::names(build_step(one_layer(), one_chip())),
        ElementsAre("embedding forward lookup", "layer 0 forward qkv", "layer 0 forward attention",
                    "layer 0 forward out", "layer 0 forward gate_up", "layer 0 forward down",
                    "unembedding forward logits", "unembedding forward loss",
                    "unembedding backward input gradient", "unembedding backward weight gradient",
                    "layer 0 backward down input gradient", "layer 0 backward down weight gradient",
                    "layer 0 backward gate_up input gradient",
                    "layer 0 backward gate_up weight gradient",
                    "layer 0 backward out input gradient", "layer 0 backward out weight gradient",
                    "layer 0 backward attention gradient", "layer 0 backward qkv input gradient",
                    "layer 0 backward qkv weight gradient",
                    "embedding backward scatter-add gradient", "optimizer update"));
}

TEST(Step, TensorAndContextCollectivesStandInProgramOrder) {
    TrainingPlan plan = one_chip();
    plan.tensor = 2;
    plan.context = 2;
    plan.prefetch_layers = 0;
    const StepProgram program = build_step(one_layer(), plan);
    std::vector<std::string> layer;
    for (const Op& op : program.ops) {
        if (op.layer == 0) {
            layer.push_back(op.name.substr(std::string("layer 0 ").size()));
        }
    }
    EXPECT_THAT(
        layer,
        ElementsAre("forward gather weights", "forward gather attention input", "forward qkv",
                    "forward gather keys and values", "forward attention", "forward out",
                    "forward scatter attention output", "forward gather mlp input",
                    "forward gate_up", "forward down", "forward scatter mlp output",
                    "backward gather weights", "backward gather mlp output gradient",
                    "backward down input gradient", "backward down weight gradient",
                    "backward gather mlp input", "backward gate_up input gradient",
                    "backward scatter mlp input gradient", "backward gate_up weight gradient",
                    "backward gather attention output gradient", "backward out input gradient",
                    "backward out weight gradient", "backward gather keys and values",
                    "backward attention gradient", "backward scatter key and value gradient",
                    "backward gather attention input", "backward qkv input gradient",
                    "backward scatter attention input gradient", "backward qkv weight gradient",
                    "backward reduce-scatter gradients"));
}

TEST(Step, RematBlockRunsTheForwardAgainAndNeedsNoThirdGather) {
    TrainingPlan plan = one_chip();
    plan.tensor = 2;
    plan.context = 2;
    plan.remat = Remat::block;
    const std::vector<std::string> names = testing::names(build_step(one_layer(), plan));
    for (const char* what : {"gather attention input", "qkv", "gather keys and values", "attention",
                             "out", "scatter attention output", "gather mlp input", "gate_up",
                             "down", "scatter mlp output"}) {
        EXPECT_THAT(names, Contains("layer 0 recompute " + std::string(what)).Times(1));
    }
    for (const char* what :
         {"gather attention input", "gather keys and values", "gather mlp input"}) {
        EXPECT_THAT(names, Not(Contains("layer 0 backward " + std::string(what))));
    }
    EXPECT_THAT(names, Not(Contains(::testing::HasSubstr("unembedding recompute"))));
}

TEST(Step, RematMatmulsRunsOnlyAttentionAgain) {
    TrainingPlan plan = one_chip();
    plan.tensor = 2;
    plan.context = 2;
    plan.remat = Remat::matmuls;
    std::vector<std::string> again;
    for (const Op& op : build_step(one_layer(), plan).ops) {
        if (op.pass == Pass::recompute) {
            again.push_back(op.name);
        }
    }
    EXPECT_THAT(again, ElementsAre("layer 0 recompute gather keys and values",
                                   "layer 0 recompute attention"));
}

// 6 x matmul parameters x tokens + attention, exactly. An untied embedding is looked up (no FLOPs)
// and norms execute none, so `6 x parameters` counts 6 (V D + norms) more a token than are
// executed; a tied table is multiplied once, as the unembedding.
TEST(Step, FlopsAreSixTimesMatmulParametersPlusAttention) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = testing::random_model(random);
        TrainingPlan plan = testing::random_plan(random, false);
        plan.remat = Remat::none;
        const StepProgram program = build_step(model, plan);
        const ParameterCount count = count_parameters(model);
        const std::int64_t matmul = count.layers_matmul + count.embedding;
        const std::int64_t attention =
            (plan.causal ? 6 : 12) * plan.sequence * model.heads * model.head_dim * model.layers;
        EXPECT_EQ(flops_by_pass(program).total().value() * testing::chips(plan),
                  static_cast<double>(plan.tokens * (6 * matmul + attention)));
        // MFU's count differs by the embedding's lookup and the norms alone.
        const std::int64_t uncounted = count.total - matmul;
        const StepFlops flops = step_flops(model, plan, program);
        EXPECT_EQ(flops.model.value(),
                  static_cast<double>(plan.tokens * (6 * matmul + attention + 6 * uncounted)));
        EXPECT_EQ(flops.hardware.value(), flops.model.value());
    }
}

TEST(Step, BackwardIsTwiceForwardAndRematBlockAddsOneForwardOfTheLayers) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = testing::random_model(random);
        TrainingPlan plan = testing::random_plan(random, true);
        plan.remat = Remat::block;
        const StepProgram program = build_step(model, plan);
        const PassFlops flops = flops_by_pass(program);
        EXPECT_EQ(flops.of(Pass::backward), flops.of(Pass::forward) * 2);
        const double logits = compute_of(program, "unembedding forward logits").flops.value();
        EXPECT_EQ(flops.of(Pass::recompute).value(), flops.of(Pass::forward).value() - logits);
        EXPECT_EQ(flops.of(Pass::optimizer).value(), 0);
        const StepFlops step = step_flops(model, plan, program);
        EXPECT_DOUBLE_EQ(
            (step.hardware - step.model).value(),
            flops.of(Pass::recompute).value() * testing::chips(plan) * occupancy(plan).occupied);
    }
}

/// Sum of V of a layer's collectives (AllReduce twice), in bytes.
double bytes_of(const StepProgram& program, int layer, Pass pass, Purpose purpose) {
    for (const CollectiveBytes& row : collective_bytes(program)) {
        if (row.layer == layer && row.pass == pass && row.purpose == purpose) {
            return row.bytes.value();
        }
    }
    return 0;
}

// The table `strategies` of the reference text (section 5), 2-byte elements, with the 2 D F
// parameters of its two-matmul block generalised to the layer's P and its tensor terms once for
// each of a layer's two blocks: data 0 + 4P, fsdp 2P + 4P, tensor 4BD + 4BD (+ 2BD), fsdp and
// tensor 4BD/X + 2P/Y, ...
TEST(Step, StrategyBytesAreThoseOfTheReferenceText) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = testing::random_model(random);
        TrainingPlan plan = testing::random_plan(random, false);
        plan.remat = random.coin() ? Remat::none : Remat::block;
        const StepProgram program = build_step(model, plan);
        const double x = plan.fsdp * plan.context;
        const double y = plan.tensor;
        const double weights = static_cast<double>(count_layer(model, {}).total()) / y;
        const double rows = static_cast<double>(plan.tokens * model.d_model) / (plan.data * x);
        const double kv = static_cast<double>(plan.tokens * 2 * model.kv_heads * model.head_dim) /
                          (plan.data * plan.fsdp) / y;
        const auto bytes = [&](Pass pass, Purpose purpose) {
            return bytes_of(program, 0, pass, purpose);
        };
        const bool again = plan.remat == Remat::block;

        EXPECT_EQ(bytes(Pass::forward, Purpose::weights), x > 1 ? 2 * weights : 0);
        EXPECT_EQ(bytes(Pass::backward, Purpose::weights), x > 1 ? 2 * weights : 0);
        EXPECT_EQ(bytes(Pass::forward, Purpose::gradients), 0);
        EXPECT_DOUBLE_EQ(bytes(Pass::backward, Purpose::gradients),
                         (x > 1 ? 2 * weights : 0) + (plan.data > 1 ? 4 * weights / x : 0));
        EXPECT_DOUBLE_EQ(bytes(Pass::forward, Purpose::tensor), y > 1 ? 2 * 4 * rows : 0);
        EXPECT_DOUBLE_EQ(bytes(Pass::recompute, Purpose::tensor),
                         y > 1 && again ? 2 * 4 * rows : 0);
        EXPECT_DOUBLE_EQ(bytes(Pass::backward, Purpose::tensor),
                         y > 1 ? 2 * (again ? 4 : 6) * rows : 0);
        // Gathered forward, gathered once more for the backward pass, gradient reduced.
        EXPECT_DOUBLE_EQ(bytes(Pass::forward, Purpose::context), plan.context > 1 ? 2 * kv : 0);
        EXPECT_DOUBLE_EQ(
            bytes(Pass::recompute, Purpose::context) + bytes(Pass::backward, Purpose::context),
            plan.context > 1 ? 2 * 2 * kv : 0);
    }
}

TEST(Step, EveryGroupIsGatheredAndReducedInFull) {
    ModelSpec model = one_layer();
    TrainingPlan plan = one_chip();
    plan.fsdp = 2;
    plan.tokens = 64;
    const auto total = static_cast<double>(count_parameters(model).total);
    for (const bool tied : {false, true}) {
        model.tied_embeddings = tied;
        double gathered = 0;
        double reduced = 0;
        for (const CollectiveBytes& row : collective_bytes(build_step(model, plan))) {
            (row.purpose == Purpose::weights ? gathered : reduced) += row.bytes.value();
        }
        const ParameterCount count = count_parameters(model);
        EXPECT_EQ(reduced, 2.0 * static_cast<double>(count.total));
        // Layers twice; a tied table twice too, once as each half of an untied pair.
        EXPECT_EQ(gathered, 2.0 * (total + static_cast<double>(count.layers)));
    }
}

TEST(Step, ATiedTableIsReducedOnce) {
    ModelSpec model = one_layer();
    model.tied_embeddings = true;
    TrainingPlan plan = one_chip();
    plan.fsdp = 2;
    plan.tokens = 64;
    const StepProgram program = build_step(model, plan);
    EXPECT_THAT(testing::names(program),
                Not(Contains("unembedding backward reduce-scatter gradients")));
    const OpIndex scatter = find_op(program, "embedding backward reduce-scatter gradients");
    EXPECT_EQ(std::get<Collective>(program.ops[scatter].work).bytes.value(), (64 * 16 + 16) * 2);
}

// One layer by hand: t = 32, D = 16, F = 32, N = 4, K = 2, H = 4, V = 64, gated, 2-byte elements.
TEST(Step, WorkByHand) {
    const StepProgram program = build_step(one_layer(), one_chip());
    const Compute& qkv = compute_of(program, "layer 0 forward qkv");
    EXPECT_EQ(qkv.flops.value(), 2 * 32 * 16 * 32);
    EXPECT_EQ(qkv.hbm.value(), 2 * (32 * 16 + 16 * 32 + 32 * 32) + 4 * 32 * 16 * 2);
    const Compute& attention = compute_of(program, "layer 0 forward attention");
    EXPECT_EQ(attention.flops.value(), 4 * 32 * 32 * 16 / 2);
    EXPECT_EQ(attention.hbm.value(), 2 * (2 * 32 * 16 + 2 * 32 * 8));  // q, o; k, v
    ASSERT_EQ(attention.matmuls.size(), 2U);
    EXPECT_EQ(attention.matmuls[0].count, 4);
    EXPECT_EQ(attention.matmuls[0].n, 32);
    const Compute& down = compute_of(program, "layer 0 forward down");
    EXPECT_EQ(down.flops.value(), 2 * 32 * 32 * 16);
    EXPECT_EQ(down.hbm.value(), 2 * (32 * 32 + 32 * 16 + 32 * 16) + 2 * 3 * 32 * 32);
    const Compute& backward = compute_of(program, "layer 0 backward attention gradient");
    EXPECT_EQ(backward.flops.value(), 8 * 32 * 32 * 16 / 2);
    EXPECT_EQ(backward.hbm.value(),
              2 * (4 * 32 * 16 + 2 * 2 * 32 * 8));  // q, o, dO, dq; k, v, dk, dv
    const Compute& dw = compute_of(program, "layer 0 backward gate_up weight gradient");
    EXPECT_EQ(dw.flops.value(), 2 * 32 * 16 * 64);
    EXPECT_EQ(dw.hbm.value(), 2 * (16 * 32 + 32 * 64 + 16 * 64));
    const Compute& update = compute_of(program, "optimizer update");
    EXPECT_EQ(update.flops.value(), 0);
    EXPECT_EQ(update.hbm.value(),
              static_cast<double>(count_parameters(one_layer()).total) * (2 + 2 + 2 + 4 * 4));
}

}  // namespace
}  // namespace podsim::workloads
