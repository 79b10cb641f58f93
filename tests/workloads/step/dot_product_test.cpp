// Attention whose scores go through HBM: FLOPs, bytes and memory by hand, for every remat policy.
// It models XLA's result for MaxText's attention=dot_product, forward, recomputed and backward.
#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::compute_of;
using samples::find_op;

// Four sequences of 8 tokens with 2 heads of 8 have
// scores of 4 x 2 x 8 x 8 = 512 elements, A = 1024 bytes.
constexpr double kScores = 512;
constexpr double kA = 2 * kScores;
// Elements of queries, keys, values or outputs each.
constexpr double kQueries = 32 * 2 * 8;

ModelSpec unfused_model() {
    return {.name = "tiny",
            .source = "this test",
            .layers = 2,
            .d_model = 16,
            .d_ff = 32,
            .heads = 2,
            .kv_heads = 2,
            .head_dim = 8,
            .vocabulary = 64};
}

TrainingPlan unfused_plan(double scores, Remat remat = {}) {
    TrainingPlan plan;
    plan.batch.sequence = 8;
    plan.batch.tokens = 32;
    plan.attention.causal = false;
    plan.attention.scores = scores;
    plan.remat = remat;
    plan.overlap.layer_loop = true;
    return plan;
}

Remat keeping(TensorSet tensors) {
    return {.policy = RematPolicy::named, .names = {.save = tensors}};
}

// Queries, keys, values and outputs move once each. Scores take 5 A: written, read for the maxima,
// read and written as exponentials, read.
TEST(DotProduct, ForwardBytesAndFlops) {
    const StepProgram program = build_step(unfused_model(), unfused_plan(2));
    const Compute& work = compute_of(program, "layer 0 forward attention");
    EXPECT_EQ(work.flops.value(), 2 * (8 + 8) * kScores);
    EXPECT_EQ(work.hbm.value(), 4 * kQueries * 2 + 5 * kA);
    EXPECT_EQ(compute_of(build_step(unfused_model(), unfused_plan(4)), "layer 0 forward attention")
                  .hbm.value(),
              4 * kQueries * 2 + 5 * 2 * kA);
}

// The matmuls are dV, dP, dQ and dK. Queries, outputs and their
// gradients, keys, values and theirs move once each, and 7 A. If only the
// output is kept, scores are computed once more: 2 H FLOPs each and 4 A.
TEST(DotProduct, BackwardBytesAndFlops) {
    const auto gradient = [](const Remat& remat) {
        const StepProgram program = build_step(unfused_model(), unfused_plan(2, remat));
        return compute_of(program, "layer 0 backward attention gradient");
    };
    for (const Remat& remat :
         {Remat{}, Remat{.policy = RematPolicy::none}, Remat{.policy = RematPolicy::block},
          Remat{.policy = RematPolicy::matmuls}, keeping({LayerTensor::qkv})}) {
        EXPECT_EQ(gradient(remat).flops.value(), 2 * 2 * (8 + 8) * kScores);
        EXPECT_EQ(gradient(remat).hbm.value(), 8 * kQueries * 2 + 7 * kA);
    }
    const Compute again = gradient(keeping({LayerTensor::attended}));
    EXPECT_EQ(again.flops.value(), 2 * (2 * (8 + 8) + 8) * kScores);
    EXPECT_EQ(again.hbm.value(), 8 * kQueries * 2 + (7 + 4) * kA);
}

/// Returns the bytes that are alive while an operation runs, in program order.
double alive_bytes(const StepProgram& program, const std::string& name) {
    const OpIndex at = find_op(program, name);
    double bytes = 0;
    for (const Buffer& buffer : program.buffers) {
        const bool begun = buffer.allocated_at == kWholeStep || buffer.allocated_at <= at;
        const bool ended =
            !buffer.freed_after.empty() && *std::ranges::max_element(buffer.freed_after) < at;
        bytes += begun && !ended ? buffer.bytes.value() : 0;
    }
    return bytes;
}

/// Returns the bytes beyond those of a flash kernel, which stores no scores.
double more_than_flash(const Remat& remat, double scores, const std::string& name) {
    return alive_bytes(build_step(unfused_model(), unfused_plan(scores, remat)), name) -
           alive_bytes(build_step(unfused_model(), unfused_plan(0, remat)), name);
}

// Scores take one array forward, which no names keep; one from the recomputation on, and two in the
// gradient. Without recomputation those of both layers are kept.
TEST(DotProduct, Memory) {
    for (const double scores : {2.0, 4.0}) {
        const double a = kScores * scores;
        for (const Remat& remat :
             {Remat{}, Remat{.policy = RematPolicy::block}, Remat{.policy = RematPolicy::matmuls},
              keeping({LayerTensor::qkv, LayerTensor::out}), keeping({LayerTensor::attended})}) {
            EXPECT_EQ(more_than_flash(remat, scores, "layer 0 forward attention"), a);
            EXPECT_EQ(more_than_flash(remat, scores, "layer 0 forward down"), 0);
            EXPECT_EQ(more_than_flash(remat, scores, "unembedding forward logits"), 0);
            EXPECT_EQ(more_than_flash(remat, scores, "layer 1 backward attention gradient"), 2 * a);
            EXPECT_EQ(more_than_flash(remat, scores, "layer 1 backward qkv weight gradient"), 0);
        }
        const Remat full;
        EXPECT_EQ(more_than_flash(full, scores, "layer 1 recompute attention"), a);
        EXPECT_EQ(more_than_flash(full, scores, "layer 1 backward out weight gradient"), a);
        const Remat none{.policy = RematPolicy::none};
        EXPECT_EQ(more_than_flash(none, scores, "layer 1 forward attention"), 2 * a);
        EXPECT_EQ(more_than_flash(none, scores, "unembedding forward logits"), 2 * a);
        EXPECT_EQ(more_than_flash(none, scores, "layer 1 backward attention gradient"), 3 * a);
        EXPECT_EQ(more_than_flash(none, scores, "layer 0 backward attention gradient"), 2 * a);
    }
}

// Neither a mask nor a window reduces the scores; heads and sequences are split as usual.
TEST(DotProduct, MasksSaveNothingAndShardsSplit) {
    TrainingPlan plan = unfused_plan(2);
    ModelSpec windowed = unfused_model();
    windowed.window = 4;
    EXPECT_EQ(compute_of(build_step(windowed, plan), "layer 0 forward attention").hbm.value(),
              4 * kQueries * 2 + 5 * kA);
    plan.attention.causal = true;
    EXPECT_EQ(
        compute_of(build_step(unfused_model(), plan), "layer 0 forward attention").flops.value(),
        2 * (8 + 8) * kScores);
    plan = unfused_plan(2);
    plan.ways.tensor = 2;
    EXPECT_EQ(
        compute_of(build_step(unfused_model(), plan), "layer 0 forward attention").hbm.value(),
        (4 * kQueries * 2 + 5 * kA) / 2);
    plan.ways.tensor = 1;
    plan.ways.context = 2;  // half of the queries, all keys
    EXPECT_EQ(
        compute_of(build_step(unfused_model(), plan), "layer 0 forward attention").hbm.value(),
        3 * kQueries * 2 + 5 * kA / 2);
}

}  // namespace
}  // namespace podsim::workloads
