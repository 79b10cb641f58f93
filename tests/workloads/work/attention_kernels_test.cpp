// The backward pass of attention by hand, in each of its forms.
#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/plan.h"
#include "workloads/work/attention_work.h"
#include "workloads/work/work.h"

namespace podsim::workloads {
namespace {

constexpr double kSequence = 4096;
constexpr double kHeads = 8;
constexpr double kKvHeads = 2;
constexpr double kHeadDim = 128;

/// Returns one sequence of causal attention in blocks of 512 queries (vector_work_test.cpp), so
/// that blocks read the keys and values (1 + ... + 8) / 8 = 4.5 times.
Shard shard_of(BackwardKernels kernels, double context = 1) {
    ModelSpec model = samples::one_layer();
    model.heads = static_cast<std::int64_t>(kHeads);
    model.kv_heads = static_cast<std::int64_t>(kKvHeads);
    model.head_dim = static_cast<std::int64_t>(kHeadDim);
    TrainingPlan plan;
    plan.batch.sequence = static_cast<std::int64_t>(kSequence);
    plan.batch.tokens = plan.batch.sequence;
    plan.ways.context = static_cast<int>(context);
    plan.attention.vmem = sim::Bytes(16.0 * 1024 * 1024);
    plan.attention.backward = kernels;
    if (context > 1) {
        plan.attention.placement = Placement::plain;
    }
    return make_shard(model, plan);
}

// Forward has S = Q K^T and P V. Backward has dV, dP, dQ and
// dK; one kernel makes S once more, two make S and dP each.
TEST(AttentionKernels, MakeSoManyDotProducts) {
    const double pairs = kSequence * kSequence / 2 * kHeads;
    const double product = 2 * kHeadDim * pairs;
    EXPECT_EQ(attention_forward(shard_of(BackwardKernels::split), false).flops.value(),
              2 * product);
    const auto backward = [&](BackwardKernels kernels) {
        return attention_backward(shard_of(kernels), false);
    };
    EXPECT_EQ(backward(BackwardKernels::book).flops.value(), 4 * product);
    EXPECT_EQ(backward(BackwardKernels::fused).flops.value(), 5 * product);
    EXPECT_EQ(backward(BackwardKernels::split).flops.value(), 7 * product);
    EXPECT_EQ(backward(BackwardKernels::book).matmuls.size(), 4U);
    EXPECT_EQ(backward(BackwardKernels::fused).matmuls.size(), 5U);
    EXPECT_EQ(backward(BackwardKernels::split).matmuls.size(), 7U);
    // Each kernel takes exp of each score; D = rowsum(o dO) is taken once.
    const double rows = kSequence * kHeads * kHeadDim * 2;
    EXPECT_EQ(backward(BackwardKernels::book).vector.value(), 7 * pairs + rows);
    EXPECT_EQ(backward(BackwardKernels::fused).vector.value(), 7 * pairs + rows);
    EXPECT_EQ(backward(BackwardKernels::split).vector.value(), 2 * 7 * pairs + rows);
}

// Without set blocks a step of the grid has 512 keys: 8 a sequence, which the blocks of each of 2
// heads' queries read 4.5 times. Each of two kernels goes through its own blocks.
TEST(AttentionKernels, GoThroughSoManyBlocks) {
    EXPECT_EQ(attention_forward(shard_of(BackwardKernels::split), false).grid_steps, 8 * 2 * 4.5);
    EXPECT_EQ(attention_backward(shard_of(BackwardKernels::fused), false).grid_steps, 8 * 2 * 4.5);
    EXPECT_EQ(attention_backward(shard_of(BackwardKernels::split), false).grid_steps,
              2 * 8 * 2 * 4.5);
}

// Queries and keys of latent attention are wider than values: 192 and 128.
TEST(AttentionKernels, CountTheWidthsOfKeysAndValuesApart) {
    const auto flops = [](BackwardKernels kernels) {
        Shard shard = shard_of(kernels);
        shard.head_dim = 192;
        shard.value_dim = 128;
        return attention_backward(shard, false).flops.value();
    };
    const double pairs = kSequence * kSequence / 2 * kHeads;
    EXPECT_EQ(flops(BackwardKernels::book), 2 * pairs * (2 * 192 + 2 * 128));
    EXPECT_EQ(flops(BackwardKernels::fused), 2 * pairs * (3 * 192 + 2 * 128));
    EXPECT_EQ(flops(BackwardKernels::split), 2 * pairs * (4 * 192 + 3 * 128));
}

// Split, o and dO are read for D. The kernel of queries reads q and dO and writes
// dq, with keys and values 4.5 times. The other reads these once and writes dk
// and dv, and reads q and dO for each of its blocks: 512 x 4 keys' rows see those
// of all heads that share a key, as many bytes as keys and values 4.5 times.
TEST(AttentionKernels, MoveSoManyBytes) {
    const double queries = kSequence * kHeads * kHeadDim * 2;
    const double keys = kSequence * kKvHeads * (kHeadDim + kHeadDim) * 2;
    const auto bytes = [](BackwardKernels kernels, double context, int rank) {
        Shard shard = shard_of(kernels, context);
        shard.rank = rank;
        return attention_backward(shard, false).hbm.value();
    };
    EXPECT_EQ(bytes(BackwardKernels::fused, 1, 0), 4 * queries + (3 * 4.5 - 1) * keys);
    EXPECT_EQ(bytes(BackwardKernels::split, 1, 0), 5 * queries + (2 * 4.5 + 2) * keys);
    // The first of two consecutive ranks sees its own half of the keys, and zeroes the gradients of
    // the others. Its four blocks read 512, 1024, 1536 and 2048 of 4096 keys: 1.25 times.
    EXPECT_EQ(bytes(BackwardKernels::split, 2, 0),
              5 * queries / 2 + (2 * 1.25 + 2 * 0.5 + 0.5) * keys);
    EXPECT_EQ(bytes(BackwardKernels::split, 2, 1), 5 * queries / 2 + (2 * 3.25 + 2) * keys);
}

}  // namespace
}  // namespace podsim::workloads
