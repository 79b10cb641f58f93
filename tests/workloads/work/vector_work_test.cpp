// Elementwise work by hand: operations of the vector unit, and the number of times that attention
// reads keys and values.
#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/compute_time.h"
#include "workloads/bounds/roofline.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"
#include "workloads/work/attention_work.h"
#include "workloads/work/work.h"

namespace podsim::workloads {
namespace {

using samples::find_op;
using samples::one_chip;
using samples::one_layer;

double vector_of(const ModelSpec& model, const TrainingPlan& plan, const std::string& name) {
    const StepProgram program = build_step(model, plan);
    return std::get<Compute>(program.ops[find_op(program, name)].work).vector.value();
}

TEST(VectorWork, EveryOperationByHand) {
    const auto vector = [](const std::string& name) {
        return vector_of(one_layer(), one_chip(), name);
    };
    const double rows = 32 * 16;              // t D
    const double rotated = 32 * (4 + 2) * 4;  // t (N + K) H
    const double pairs = 4 * 32 * 32 / 2;     // N S^2 / 2
    const double hidden = 32 * 32;            // t F
    EXPECT_EQ(vector("embedding forward lookup"), 0);
    EXPECT_EQ(vector("layer 0 forward qkv"), rows * 5 + rotated * 3);
    EXPECT_EQ(vector("layer 0 forward attention"), pairs * 7);
    EXPECT_EQ(vector("layer 0 forward out"), 0);
    EXPECT_EQ(vector("layer 0 forward gate_up"), rows * 5);
    EXPECT_EQ(vector("layer 0 forward down"), hidden * 11);
    EXPECT_EQ(vector("unembedding forward logits"), rows * 5);
    EXPECT_EQ(vector("unembedding forward loss"), 32 * 64 * 9);
    EXPECT_EQ(vector("unembedding backward input gradient"), rows * 10);
    EXPECT_EQ(vector("unembedding backward weight gradient"), 0);
    EXPECT_EQ(vector("layer 0 backward down input gradient"), hidden * 17);
    EXPECT_EQ(vector("layer 0 backward down weight gradient"), 0);
    EXPECT_EQ(vector("layer 0 backward gate_up input gradient"), rows * 10);
    EXPECT_EQ(vector("layer 0 backward attention gradient"), pairs * 7 + 32 * 16 * 2);
    EXPECT_EQ(vector("layer 0 backward qkv input gradient"), rows * 10 + rotated * 3);
    EXPECT_EQ(vector("embedding backward scatter-add gradient"), rows);
    EXPECT_EQ(vector("optimizer update"),
              static_cast<double>(count_parameters(one_layer()).total) * 22);
}

TEST(VectorWork, FollowsTheStructureOfTheModel) {
    ModelSpec model = one_layer();
    const TrainingPlan plan = one_chip();
    const double rows = 32 * 16;
    model.norm = Norm::layer;
    model.norms = 4;  // two of 7 operations a block, and the sum
    EXPECT_EQ(vector_of(model, plan, "layer 0 forward gate_up"), rows * 15);
    EXPECT_EQ(vector_of(model, plan, "layer 0 backward gate_up input gradient"), rows * 25);
    model.gated_mlp = false;
    EXPECT_EQ(vector_of(model, plan, "layer 0 forward down"), 32 * 32 * 10);
    EXPECT_EQ(vector_of(model, plan, "layer 0 backward down input gradient"), 32 * 32 * 14);
    model.positions = 32;  // learned: added to rows, no rotation
    EXPECT_EQ(vector_of(model, plan, "embedding forward lookup"), rows);
    EXPECT_EQ(vector_of(model, plan, "layer 0 forward qkv"), rows * 15);
    model.qk_norm = true;
    EXPECT_EQ(vector_of(model, plan, "layer 0 forward qkv"), rows * 15 + 32 * 24 * 4);
}

TEST(VectorWork, RematOfMatmulsNormsAndActivatesAgain) {
    TrainingPlan plan = one_chip();
    plan.remat.policy = RematPolicy::matmuls;
    EXPECT_EQ(vector_of(one_layer(), plan, "layer 0 backward down weight gradient"), 32 * 32 * 11);
    EXPECT_EQ(vector_of(one_layer(), plan, "layer 0 backward qkv weight gradient"), 32 * 16 * 4);
    EXPECT_EQ(vector_of(one_layer(), plan, "layer 0 recompute attention"), 4 * 32 * 32 / 2 * 7);
}

TEST(VectorWork, ExpertsRouteAndCombine) {
    ModelSpec model = one_layer();
    model.experts = {.count = 8, .per_token = 2, .d_ff = 4};
    const TrainingPlan plan = one_chip();
    EXPECT_EQ(vector_of(model, plan, "layer 0 forward router"), 32 * 16 * 5 + 32 * 8 * (7 + 2));
    EXPECT_EQ(vector_of(model, plan, "layer 0 forward combine"), 32 * 2 * 16 * 2);
    EXPECT_EQ(vector_of(model, plan, "layer 0 backward combine gradient"), 32 * 2 * 16 * 3);
    EXPECT_EQ(vector_of(model, plan, "layer 0 forward experts down"), 32 * 2 * 4 * 11);
}

TEST(VectorWork, OperationsTakeTheLongestOfMxuHbmAndVpu) {
    MachineRates rates{sim::FlopsPerSecond(100), sim::BytesPerSecond(10), {}, 1};
    rates.vpu = sim::FlopsPerSecond(5);
    Compute work{sim::Flops(200), {}, sim::Bytes(10), sim::Flops(15)};
    EXPECT_EQ(compute_time(work, rates).vpu.value(), 3);
    EXPECT_EQ(compute_time(work, rates).total().value(), 3);
    work.vector = sim::Flops(5);
    EXPECT_EQ(compute_time(work, rates).total().value(), 2);
    work.vector = sim::Flops(500);
    const StepProgram program{{{"a", Pass::forward, 0, work, {}}}, {}};
    const LowerBound lower = roofline_lower(program, {}, {}, rates);
    EXPECT_EQ(lower.bound, "vpu");
    EXPECT_EQ(lower.vpu.value(), 100);
    EXPECT_EQ(lower.time.value(), 100);
    EXPECT_EQ(roofline_serial(program, {}, {}, rates).value(), 100);
}

Shard shard_in_blocks(double context, bool causal, double window, double vmem) {
    ModelSpec model = one_layer();
    model.heads = 8;
    model.head_dim = 128;
    model.window = static_cast<std::int64_t>(window);
    TrainingPlan plan;
    plan.batch.sequence = 4096;
    plan.ways.context = static_cast<int>(context);
    plan.batch.tokens = plan.batch.sequence;
    plan.attention.causal = causal;
    plan.attention.vmem = sim::Bytes(vmem);
    return make_shard(model, plan);
}

// A row takes 128 x 2 bytes of the query, 128 x 4 of the output, 512 x 4 of scores, 2816 bytes.
// Half of 64 MiB holds 11915 rows: blocks of 8192, or 2048 queries of the 4 heads that share keys
// and values. Half of 16 MiB holds 2978: 2048 rows, 512 queries.
TEST(VectorWork, QueryBlocksFollowFromVmem) {
    const double large = 64.0 * 1024 * 1024;
    const double small = large / 4;
    EXPECT_EQ(query_block_rows(shard_in_blocks(1, true, 0, large)), 8192);
    EXPECT_EQ(query_block_rows(shard_in_blocks(1, true, 0, small)), 2048);
    // With full attention every block reads all keys.
    EXPECT_EQ(key_value_passes(shard_in_blocks(1, false, 0, large), false), 2);
    EXPECT_EQ(key_value_passes(shard_in_blocks(1, false, 0, small), false), 8);
    // Causal attention reads (1 + 2) / 2 and (1 + ... + 8) / 8 times.
    EXPECT_EQ(key_value_passes(shard_in_blocks(1, true, 0, large), false), 1.5);
    EXPECT_EQ(key_value_passes(shard_in_blocks(1, true, 0, small), false), 4.5);
    // With context of 2 a chip has pieces 0 and 3 of four of 1024 queries, two blocks each, which
    // see 512, 1024, 3584 and 4096 keys.
    EXPECT_EQ(key_value_passes(shard_in_blocks(2, true, 0, small), false),
              (512.0 + 1024 + 3584 + 4096) / 4096);
    // With a window of 1024, blocks of 512 see 512, 1024, then
    // 1536 six times. With full attention all eight see 1536.
    EXPECT_EQ(key_value_passes(shard_in_blocks(1, true, 1024, small), true),
              (512.0 + 1024 + 6 * 1536) / 4096);
    EXPECT_EQ(key_value_passes(shard_in_blocks(1, false, 1024, small), true), 8 * 1536.0 / 4096);
    EXPECT_EQ(key_value_passes(shard_in_blocks(1, true, 1024, small), false), 4.5);
    // The chip with piece 0 sees fewer keys: 512, 1024, 1536, 1536; the other has 1536 four times.
    EXPECT_EQ(key_value_passes(shard_in_blocks(2, true, 1024, small), true), 4 * 1536.0 / 4096);
    // If all of it fits in VMEM, keys and values are read once.
    EXPECT_EQ(key_value_passes(shard_in_blocks(1, true, 0, 1e18), false), 1);
}

TEST(VectorWork, AttentionReadsKeysAndValuesOncePerBlock) {
    const Shard s = shard_in_blocks(1, true, 0, 16.0 * 1024 * 1024);
    const double queries = 4096 * 8 * (128 + 128) * 2.0;
    const double keys = 4096 * 2 * (128 + 128) * 2.0;
    EXPECT_EQ(attention_forward(s, false).hbm.value(), queries + 4.5 * keys);
    EXPECT_EQ(attention_backward(s, false).hbm.value(), 2 * queries + (3 * 4.5 - 1) * keys);
}

// Both operands are scaled and rounded, and the result
// is scaled back; gathered weights come quantised.
TEST(VectorWork, QuantisedMatmulsRunAtTheirOwnRate) {
    TrainingPlan plan = one_chip();
    plan.precision.matmul = MatmulDtype::int8;
    const auto compute_of = [&](const std::string& name) {
        const StepProgram program = build_step(one_layer(), plan);
        return std::get<Compute>(program.ops[find_op(program, name)].work);
    };
    const Compute out = compute_of("layer 0 forward out");
    EXPECT_EQ(out.dtype, MatmulDtype::int8);
    EXPECT_EQ(out.vector.value(), 4 * (32 * 16 + 16 * 16) + 32 * 16);
    EXPECT_EQ(out.hbm.value(), 2 * (32 * 16 + 16 * 16 + 32 * 16));  // weights as stored
    const Compute dw = compute_of("layer 0 backward out weight gradient");
    EXPECT_EQ(dw.vector.value(), 4 * (32 * 16 + 32 * 16) + 16 * 16);
    for (const char* name : {"layer 0 forward attention", "layer 0 backward attention gradient",
                             "unembedding forward logits"}) {
        EXPECT_EQ(compute_of(name).dtype, MatmulDtype::bf16) << name;
    }
    plan.ways.fsdp = 2;
    plan.batch.tokens = 64;
    const Compute gathered = compute_of("layer 0 forward out");
    EXPECT_EQ(gathered.vector.value(), 4 * 32 * 16 + 32 * 16);
    EXPECT_EQ(gathered.hbm.value(), 2 * (32 * 16 + 32 * 16) + 16 * 16);
    const StepProgram program = build_step(one_layer(), plan);
    const auto bytes = [&](const char* name) {
        return std::get<Collective>(program.ops[find_op(program, name)].work).bytes.value();
    };
    EXPECT_EQ(bytes("layer 0 forward gather weights"),
              static_cast<double>(count_layer(one_layer(), {}).total()));
    EXPECT_EQ(bytes("unembedding forward gather weights"), 2 * (64 * 16 + 16));
    // The rates are 8 FLOP/s in bf16, 16 in int8.
    MachineRates rates{sim::FlopsPerSecond(8), sim::BytesPerSecond::infinity(), {}, 1};
    rates.int8 = sim::FlopsPerSecond(16);
    EXPECT_EQ(compute_time(out, rates).mxu.value(), out.flops.value() / 16);
}

}  // namespace
}  // namespace podsim::workloads
