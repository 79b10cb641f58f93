// The operations of a step and their order; the work of one layer by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::compute_of;
using samples::one_chip;
using samples::one_layer;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

TEST(Step, OneChipRunsTheBareSequence) {
    EXPECT_THAT(
        samples::names(build_step(one_layer(), one_chip())),
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
    plan.ways.tensor = 2;
    plan.ways.context = 2;
    plan.overlap.prefetch_layers = 0;
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
    plan.ways.tensor = 2;
    plan.ways.context = 2;
    plan.remat.policy = RematPolicy::block;
    const std::vector<std::string> names = samples::names(build_step(one_layer(), plan));
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
    plan.ways.tensor = 2;
    plan.ways.context = 2;
    plan.remat.policy = RematPolicy::matmuls;
    std::vector<std::string> again;
    for (const Op& op : build_step(one_layer(), plan).ops) {
        if (op.pass == Pass::recompute) {
            again.push_back(op.name);
        }
    }
    EXPECT_THAT(again, ElementsAre("layer 0 recompute gather keys and values",
                                   "layer 0 recompute attention"));
}

// One layer has t = 32, D = 16, F = 32, N = 4, K = 2, H = 4, V = 64, gated, 2-byte elements.
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
    // q, o, dO, dq; k, v, dk, dv.
    EXPECT_EQ(backward.hbm.value(), 2 * (4 * 32 * 16 + 2 * 2 * 32 * 8));
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
