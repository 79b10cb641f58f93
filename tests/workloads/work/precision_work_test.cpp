// Costs of quantised matmuls, logits and optimizers beyond the plain ones.
#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"
#include "workloads/work/work.h"

namespace podsim::workloads {
namespace {

using samples::find_op;
using samples::names;

ModelSpec small() {
    return {.name = "small",
            .source = "this test",
            .layers = 1,
            .d_model = 16,
            .d_ff = 32,
            .heads = 4,
            .kv_heads = 4,
            .head_dim = 4,
            .vocabulary = 64,
            .gated_mlp = false};
}

TrainingPlan quantised(Scaling scaling, bool gather) {
    TrainingPlan plan;
    plan.batch = {.tokens = 32, .sequence = 8, .microbatches = 1};
    plan.ways.fsdp = 4;
    plan.precision.matmul = MatmulDtype::int8;
    plan.precision.scaling = scaling;
    plan.precision.quantised_gather = gather;
    return plan;
}

const Compute& work_of(const StepProgram& program, const std::string& name) {
    return std::get<Compute>(program.ops[find_op(program, name)].work);
}

double gathered_bytes(const StepProgram& program, const std::string& name) {
    return std::get<Collective>(program.ops[find_op(program, name)].work).bytes.value();
}

// A layer has 16 x 48 + 16 x 16 + 2 x 16 x 32 weights and two norms of 16: 2048 + 32 elements.
TEST(Quantised, GathersOneByteUnlessScalesAreFoundBehindTheGather) {
    const StepProgram one = build_step(small(), quantised(Scaling::delayed, true));
    const StepProgram two = build_step(small(), quantised(Scaling::dynamic, false));
    EXPECT_EQ(gathered_bytes(one, "layer 0 forward gather weights"), 2080);
    EXPECT_EQ(gathered_bytes(two, "layer 0 forward gather weights"), 2 * 2080);
}

// A chip has 8 tokens. down is 8 x 32 by 32 x 16:
// operands of 256 and 512 elements, a result of 128.
TEST(Quantised, DynamicScalesReadOperandsOnceMore) {
    const StepProgram fixed = build_step(small(), quantised(Scaling::fixed, true));
    const StepProgram dynamic = build_step(small(), quantised(Scaling::dynamic, false));
    const double rows = 2 * 256;     // bytes
    const double weights = 2 * 512;  // gathered in bf16; otherwise 512
    EXPECT_EQ(work_of(dynamic, "layer 0 forward down").hbm.value() -
                  work_of(fixed, "layer 0 forward down").hbm.value(),
              rows + weights + (weights - 512));
    // An element that is quantised here takes 4 operations;
    // so do weights that were gathered in bf16.
    EXPECT_EQ(work_of(dynamic, "layer 0 forward down").vector.value() -
                  work_of(fixed, "layer 0 forward down").vector.value(),
              4 * 512);
    // dW of down is 32 x 8 by 8 x 16.
    EXPECT_EQ(work_of(dynamic, "layer 0 backward down weight gradient").hbm.value() -
                  work_of(fixed, "layer 0 backward down weight gradient").hbm.value(),
              2 * (32 * 8 + 8 * 16));
}

// The tokens that a weight gradient contracts are split
// over fsdp: magnitudes of 32 + 16 columns, 4 bytes each.
TEST(Quantised, DynamicScalesOfWeightGradientsAreReducedOverTheTokens) {
    const std::string name = "layer 0 backward reduce scales of down weight gradient";
    const StepProgram dynamic = build_step(small(), quantised(Scaling::dynamic, false));
    EXPECT_EQ(gathered_bytes(dynamic, name), 4 * (32 + 16));
    const OpIndex gradient = find_op(dynamic, "layer 0 backward down weight gradient");
    EXPECT_TRUE(std::ranges::count(dynamic.ops[gradient].after, find_op(dynamic, name)) == 1);
    for (const Scaling scaling : {Scaling::delayed, Scaling::fixed}) {
        const StepProgram other = build_step(small(), quantised(scaling, true));
        EXPECT_EQ(std::ranges::count(names(other), name), 0);
    }
}

// `out` and `down` contract the dimension that tensor splits: magnitudes of 32 rows and 16 columns.
TEST(Quantised, DynamicScalesOfPartialSumsAreReducedOverTensor) {
    TrainingPlan plan = quantised(Scaling::dynamic, false);
    plan.ways = {};
    plan.ways.tensor = 4;
    const StepProgram program = build_step(small(), plan);
    EXPECT_EQ(gathered_bytes(program, "layer 0 forward reduce scales of down"), 4 * (32 + 16));
    EXPECT_EQ(gathered_bytes(program, "layer 0 forward reduce scales of out"), 4 * (32 + 16));
}

// Four experts of width 8 lie on two ranks, two experts of 32 tokens each.
// Tensor splits have the magnitudes of the incoming rows (32 copies) and
// of the 16 columns of each of a chip's two experts. Weight gradients,
// whose tokens are split only over fsdp, have the 8 + 16 columns of each.
TEST(Quantised, DynamicScalesOfExpertsAreThoseOfEveryExpert) {
    ModelSpec model = small();
    model.experts = {.count = 4, .per_token = 2, .d_ff = 8};
    TrainingPlan plan = quantised(Scaling::dynamic, false);
    plan.ways = {};
    plan.ways.expert = plan.ways.fsdp = 2;
    const StepProgram split = build_step(model, plan);
    const std::string gradient = "layer 0 backward reduce scales of experts down weight gradient";
    EXPECT_EQ(gathered_bytes(split, gradient), 4 * 2 * (8 + 16));
    const auto& reduced = std::get<Collective>(split.ops[find_op(split, gradient)].work);
    EXPECT_EQ(reduced.axes, std::vector<std::string>{"fsdp"});
    plan.ways = {};
    plan.ways.tensor = 4;
    const StepProgram program = build_step(model, plan);
    const double rows = 2.0 * static_cast<double>(plan.batch.tokens);
    EXPECT_EQ(gathered_bytes(program, "layer 0 forward reduce scales of experts down"),
              4 * (rows + 4 * 16));
}

// Weights that are gathered in one byte an element are gathered in two
// by the backward pass if it multiplies them in bf16: 16 x 32 of `down`
// here, 16 x 32 and a norm of 16 of `gate_up`, which has no gate.
TEST(Quantised, WhatStaysBf16BackwardIsGatheredInBf16) {
    TrainingPlan plan = quantised(Scaling::delayed, true);
    const auto gathered = [&](const std::string& pass) {
        return gathered_bytes(build_step(small(), plan), "layer 0 " + pass + " gather weights");
    };
    const double forward = gathered("forward");
    EXPECT_EQ(gathered("backward"), forward);
    plan.precision.bf16_backward = {Matrix::down, Matrix::gate_up};
    EXPECT_EQ(gathered("forward"), forward);
    EXPECT_EQ(gathered("backward"), forward + 16 * 32 + 16 * 32 + 16);
}

// Recomputation contracts other axes than gradients of rows do, so that each needs a copy with its
// own scales: qkv, 16 x 48 and a norm of 16, out, 16 x 16, and gate_up, 16 x 32 and a norm, under
// full remat; none if all are kept. down does not run again.
TEST(Quantised, DynamicScalesGatherWhatRunsAgainByItself) {
    const auto backward = [&](RematPolicy remat, Scaling scaling, MatrixSet in_bf16 = {}) {
        TrainingPlan plan = quantised(scaling, true);
        plan.remat = {.policy = remat};
        plan.precision.bf16_backward = in_bf16;
        return gathered_bytes(build_step(small(), plan), "layer 0 backward gather weights");
    };
    const double again = 16 * 48 + 16 + 16 * 16 + 16 * 32 + 16;
    EXPECT_EQ(backward(RematPolicy::none, Scaling::dynamic), 2080);
    EXPECT_EQ(backward(RematPolicy::named, Scaling::dynamic), 2080 + again);
    EXPECT_EQ(backward(RematPolicy::named, Scaling::fixed), 2080);
    EXPECT_EQ(backward(RematPolicy::named, Scaling::dynamic, {Matrix::down}),
              2080 + again + 32 * 16);
    EXPECT_EQ(backward(RematPolicy::block, Scaling::dynamic), 2 * 2080);
    // A layer in groups gathers the same in parts.
    TrainingPlan plan = quantised(Scaling::dynamic, true);
    plan.overlap.weights = WeightGroups::block;
    const StepProgram program = build_step(small(), plan);
    EXPECT_EQ(gathered_bytes(program, "layer 0 forward gather mlp weights"), 2 * 512 + 16);
    EXPECT_EQ(gathered_bytes(program, "layer 0 backward gather mlp weights"),
              2 * 512 + 16 + 512 + 16);
    EXPECT_EQ(gathered_bytes(program, "layer 0 backward gather attention weights"),
              2 * (16 * 48 + 16 + 16 * 16));
}

// Kernels of grouped matmuls gather experts unquantised.
TEST(Quantised, ExpertsAreGatheredApart) {
    TrainingPlan plan = quantised(Scaling::dynamic, true);
    ModelSpec model = small();
    model.experts = {.count = 4, .per_token = 2, .d_ff = 8};
    plan.precision.quantised_expert_gather = false;
    const auto forward = [&] {
        return gathered_bytes(build_step(model, plan), "layer 0 forward gather weights");
    };
    const double experts = 4 * 2 * 16 * 8;
    const double in_two = forward();
    plan.precision.quantised_expert_gather = true;
    EXPECT_EQ(in_two - forward(), experts);
}

TEST(Quantised, WhatStaysBf16BackwardRunsAsBf16) {
    TrainingPlan plan = quantised(Scaling::dynamic, false);
    plan.precision.bf16_backward = {Matrix::out, Matrix::down, Matrix::gate_up};
    const StepProgram program = build_step(small(), plan);
    const auto dtype = [&](const std::string& op) {
        return work_of(program, "layer 0 " + op).dtype;
    };
    for (const std::string matrix : {"out", "down", "gate_up"}) {
        EXPECT_EQ(dtype("forward " + matrix), MatmulDtype::int8) << matrix;
        EXPECT_EQ(dtype("backward " + matrix + " input gradient"), MatmulDtype::bf16) << matrix;
        EXPECT_EQ(dtype("backward " + matrix + " weight gradient"), MatmulDtype::bf16) << matrix;
    }
    EXPECT_EQ(dtype("backward qkv weight gradient"), MatmulDtype::int8);
}

// Logits of 8 tokens by 256 entries are written once, read and written by the loss, and read by two
// matmuls: 5 times 2 bytes more each.
TEST(Logits, InFourBytes) {
    TrainingPlan plan = quantised(Scaling::delayed, true);
    plan.precision = {};
    ModelSpec model = small();
    model.vocabulary = 256;
    const StepProgram narrow = build_step(model, plan);
    plan.precision.logits = 4;
    const StepProgram wide = build_step(model, plan);
    double more = 0;
    for (std::size_t i = 0; i < wide.ops.size(); ++i) {
        if (const auto* work = std::get_if<Compute>(&wide.ops[i].work)) {
            more += (work->hbm - std::get<Compute>(narrow.ops[i].work).hbm).value();
        }
    }
    EXPECT_EQ(more, 5 * 2 * 8 * 256);
    const auto most = [](const StepProgram& program) {
        double bytes = 0;
        for (const Buffer& buffer : program.buffers) {
            bytes = std::max(
                bytes, buffer.memory_class == MemoryClass::buffers ? buffer.bytes.value() : 0);
        }
        return bytes;
    };
    EXPECT_EQ(most(narrow), 2 * 8 * 256);
    EXPECT_EQ(most(wide), 4 * 8 * 256);
    // In four chunks a quarter is held, and the logits' 2 t D V operations run once more.
    plan.logit_chunks = 4;
    const StepProgram chunked = build_step(model, plan);
    EXPECT_EQ(most(chunked), 8 * 256);
    EXPECT_EQ(work_of(chunked, "unembedding recompute logits").flops.value(), 2.0 * 8 * 16 * 256);
}

// 100 parameters. Lion reads and writes p, reads g, reads and writes m. Adafactor reads and writes
// p, reads it once for its scale, and reads g three times.
TEST(Optimizers, TrafficOfOneMomentAndOfNone) {
    const Precision bytes{.parameters = 4, .gradients = 2, .optimizer_moment = 4};
    EXPECT_EQ(optimizer_update(100, Optimizer::lion, bytes).hbm.value(), 100 * (8 + 2 + 8));
    EXPECT_EQ(optimizer_update(100, Optimizer::adafactor, bytes).hbm.value(), 100 * (8 + 4 + 6));
    EXPECT_EQ(optimizer_update(100, Optimizer::lion, bytes).vector.value(), 1100);
    EXPECT_EQ(optimizer_update(100, Optimizer::adafactor, bytes).vector.value(), 1900);
}

// With clipping every update waits for one number, over all axes that shard gradients.
TEST(Optimizers, ClippingReadsGradientsAndReducesOneNumber) {
    TrainingPlan plan = quantised(Scaling::delayed, true);
    plan.precision = {};
    plan.clips_gradients = true;
    const StepProgram program = build_step(small(), plan);
    const double parameters = static_cast<double>(count_parameters(small()).total);
    EXPECT_EQ(work_of(program, "optimizer gradient norm").hbm.value(), parameters / 4 * 2);
    const OpIndex norm = find_op(program, "optimizer reduce gradient norm");
    EXPECT_EQ(std::get<Collective>(program.ops[norm].work).bytes.value(), 4);
    EXPECT_EQ(std::get<Collective>(program.ops[norm].work).axes, std::vector<std::string>{"fsdp"});
    const OpIndex update = find_op(program, "optimizer update");
    EXPECT_EQ(std::ranges::count(program.ops[update].after, norm), 1);
}

}  // namespace
}  // namespace podsim::workloads
