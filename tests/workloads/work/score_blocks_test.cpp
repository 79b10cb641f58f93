// Scores that kernels compute in blocks: against a mask that is written out, and by hand.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/plan.h"
#include "workloads/work/attention_seen.h"
#include "workloads/work/attention_work.h"

namespace podsim::workloads {
namespace {

using samples::Random;

bool left_by_mask(const ScoreArea& area, double query, double key) {
    return !area.causal ||
           (key <= query + area.ahead && (area.window == 0 || key >= query - area.window));
}

/// Counts every score of every block, one by one.
double written_out(const ScoreArea& area, const ScoreBlock& block) {
    const double q = std::min(block.q, area.queries);
    const double kv = std::min(block.kv, area.keys);
    double computed = 0;
    for (double i = 0; i < area.queries; i += q) {
        for (double j = 0; j < area.keys; j += kv) {
            bool any = false;
            for (double x = i; x < std::min(i + q, area.queries); ++x) {
                for (double y = j; y < std::min(j + kv, area.keys); ++y) {
                    any = any || left_by_mask(area, area.query + x, area.key + y);
                }
            }
            computed += any ? q * kv : 0;
        }
    }
    return computed;
}

TEST(ScoreBlocks, AreThoseThatAMaskTouches) {
    Random random(1);
    for (int i = 0; i < 4000; ++i) {
        ScoreArea area;
        area.query = random.from(0, 60);
        area.queries = random.from(1, 40);
        area.key = random.from(0, 60);
        area.keys = random.from(1, 40);
        area.causal = random.from(0, 4) > 0;
        area.window = area.causal && random.coin() ? random.from(1, 40) : 0;
        area.ahead = area.window > 0 && random.coin() ? random.from(1, 40) : 0;
        const ScoreBlock block{static_cast<double>(random.from(1, 20)),
                               static_cast<double>(random.from(1, 20))};
        ASSERT_EQ(computed_scores(area, block), written_out(area, block))
            << area.query << '+' << area.queries << ' ' << area.key << '+' << area.keys << ' '
            << area.causal << ' ' << area.window << ' ' << area.ahead << ' ' << block.q << 'x'
            << block.kv;
    }
}

// n blocks a side compute 1 + ... + n of n^2 blocks.
TEST(ScoreBlocks, OfACausalSquareAreATriangleWithItsDiagonal) {
    for (const double n : {1.0, 2.0, 4.0, 16.0, 64.0}) {
        const double side = 512 * n;
        EXPECT_EQ(computed_scores({0, side, 0, side}, {512, 512}), side * side * (n + 1) / (2 * n));
    }
    // This sequence is too long to be counted block by block: 2^33 blocks a side.
    const double most = std::exp2(40);
    EXPECT_NEAR(computed_scores({0, most, 0, most}, {128, 128}) / (most * most),
                0.5 + std::exp2(-34), 1e-15);
}

TrainingPlan plan_of(std::int64_t sequence, AttentionBlocks blocks) {
    TrainingPlan plan;
    plan.batch.sequence = plan.batch.tokens = sequence;
    plan.attention.backward = BackwardKernels::split;
    plan.attention.blocks = blocks;
    return plan;
}

// A causal mask over 8192 takes 10 of 16 blocks of 2048, 0.625 of the square, and 136 of 256 blocks
// of 512. MFU's FLOPs do not change.
TEST(ScoreBlocks, OfACausalModel) {
    const ModelSpec model = samples::one_layer();
    for (const auto& [side, share] :
         {std::pair{2048.0, 10.0 / 16}, std::pair{512.0, 136.0 / 256}}) {
        const ScoreBlock block{side, side};
        const Shard shard = make_shard(model, plan_of(8192, {block, block, block}));
        const Shard exact = make_shard(model, plan_of(8192, {}));
        for (const auto& [with, without] :
             {std::pair{attention_forward(shard, false), attention_forward(exact, false)},
              std::pair{attention_backward(shard, false), attention_backward(exact, false)}}) {
            EXPECT_DOUBLE_EQ(with.tiled, share / 0.5);
            EXPECT_EQ(without.tiled, 1);
            EXPECT_EQ(with.flops, without.flops);
        }
        // Every computed score takes exp.
        EXPECT_DOUBLE_EQ(attention_forward(shard, false).vector.value(),
                         attention_forward(exact, false).vector.value() * share / 0.5);
    }
}

// Gemma 3 12B as in Trillium's recipe. In a long sequence the forward kernel and the kernel of
// queries' gradients visit 2 blocks of 1024 keys for each query, that of keys' gradients 6 blocks
// of 512 queries for each 2048 keys. These are 2, 2 and 3 times a window of 1024, and (2 x 2 + 3 x
// 4 + 2 x 3) / 9 = 2.44 times it over 2 + 4 + 3 dot products.
TEST(ScoreBlocks, OfGemmasWindow) {
    ModelSpec model = samples::one_layer();
    model.window = 1024;
    const double sequence = 1 << 26;
    const Shard shard =
        make_shard(model, plan_of(1 << 26, {{1024, 1024}, {512, 2048}, {1024, 1024}}));
    const ScoreArea all{0, sequence, 0, sequence, true, 1024};
    EXPECT_NEAR(computed_scores(all, {1024, 1024}) / (sequence * 1024), 2, 1e-4);
    EXPECT_NEAR(computed_scores(all, {512, 2048}) / (sequence * 1024), 3, 1e-4);
    const Compute forward = attention_forward(shard, true);
    const Compute backward = attention_backward(shard, true);
    EXPECT_NEAR(forward.tiled, 2, 1e-4);
    EXPECT_NEAR(backward.tiled, (3.0 * 4 + 2.0 * 3) / 7, 1e-4);
    EXPECT_NEAR((2 * forward.tiled + 7 * backward.tiled) / 9, 22.0 / 9, 1e-4);
}

// 4096 queries in blocks of 1024 x 512 with a head of 128: each of 8 heads fetches for its 4 blocks
// of queries 2, 4, 6 and 8 blocks of keys and values, 20 x 512 x 256 elements. Backward, blocks are
// 512 x 1024: 8 blocks of queries for the first block of keys, then 6, 4, 2.
TEST(ScoreBlocks, FetchWhatTheyVisit) {
    ModelSpec model = samples::one_layer();
    model.heads = 8;
    model.kv_heads = 2;
    model.head_dim = 128;
    TrainingPlan plan = plan_of(4096, {{1024, 512}, {512, 1024}, {1024, 512}});
    const double own = 4096 * 8 * 128;
    const double keys = 4096 * 2 * 256;
    const double fetched = 8 * 20 * 512 * 256;
    const auto bytes = [&](Compute (*work)(const Shard&, bool)) {
        return work(make_shard(model, plan), false).hbm.value();
    };
    EXPECT_EQ(bytes(attention_forward), 2 * (2 * own + fetched));
    // D reads outputs and their gradients. The queries' kernel reads queries and gradients and
    // writes; the keys' kernel reads keys and values and writes theirs.
    EXPECT_EQ(bytes(attention_backward), 2 * (2 * own + 3 * own + 2 * keys + 2 * fetched));
    // One kernel writes and reads queries' gradients for each
    // of 4 blocks of keys, zeros among them, and their sum.
    plan.attention.backward = BackwardKernels::fused;
    EXPECT_EQ(bytes(attention_backward), 2 * (2 * own + own + 2 * keys + fetched + 2 * 4 * own));
}

// A sequence lies over 4 ranks in 8 pieces of 1024: with blocks that divide a piece every rank
// computes a quarter of the work of one chip. Larger blocks are cut to a piece of queries, and to
// all keys if these are gathered.
TEST(ScoreBlocks, OfPartsOfASequenceAddUp) {
    const ModelSpec model = samples::one_layer();
    const ScoreBlock block{512, 512};
    TrainingPlan plan = plan_of(8192, {block, block, block});
    const Compute whole = attention_forward(make_shard(model, plan), false);
    plan.ways.context = 4;
    const Compute part = attention_forward(make_shard(model, plan), false);
    EXPECT_DOUBLE_EQ(part.tiled, whole.tiled);
    EXPECT_DOUBLE_EQ(part.vector.value() * 4, whole.vector.value());
    // With contiguous blocks rank r computes 2048 r x 2048 scores and the blocks of its own
    // triangle; the last rank computes most.
    plan.attention.placement = Placement::plain;
    double sum = 0;
    for (int rank = 0; rank < 4; ++rank) {
        const Shard shard = make_shard(model, plan, {.context = rank});
        sum += attention_forward(shard, false).vector.value();
        double of_blocks = 0;
        for (int keys = 0; keys <= rank; ++keys) {
            of_blocks += attention_forward_to(shard, keys).vector.value();
        }
        EXPECT_DOUBLE_EQ(of_blocks, attention_forward(shard, false).vector.value());
    }
    EXPECT_DOUBLE_EQ(sum, whole.vector.value());
    const ScoreBlock larger{4096, 4096};
    plan.attention.blocks = {larger, larger, larger};
    // Rank 1's 2048 queries see only keys of the first block.
    EXPECT_DOUBLE_EQ(attention_forward(make_shard(model, plan, {.context = 1}), false).tiled,
                     2048.0 * 4096 / (2048.0 * 2048 * 1.5));
}

// Full attention computes every block, the last ones whole.
TEST(ScoreBlocks, OfFullAttention) {
    const ModelSpec model = samples::one_layer();
    const ScoreBlock block{512, 512};
    TrainingPlan plan = plan_of(1024 + 256, {block, block, block});
    plan.attention.causal = false;
    EXPECT_DOUBLE_EQ(attention_forward(make_shard(model, plan), false).tiled,
                     std::pow(1536.0 / 1280, 2));
    plan.batch.sequence = plan.batch.tokens = 256;  // a block is no larger than the sequence
    EXPECT_EQ(attention_forward(make_shard(model, plan), false).tiled, 1);
}

// With a window of 512 to both sides, queries of block i see keys from 512 i - 256 to 512 i + 766:
// three blocks, at the ends two. 8192 x 512 scores take 46 x 512 x 512.
TEST(ScoreBlocks, OfAWindowToBothSides) {
    ModelSpec model = samples::one_layer();
    model.window = 512;
    const ScoreBlock block{512, 512};
    TrainingPlan plan = plan_of(8192, {block, block, block});
    plan.attention.causal = false;
    EXPECT_DOUBLE_EQ(attention_forward(make_shard(model, plan), true).tiled, 46.0 * 512 / 8192);
    EXPECT_EQ(attention_forward(make_shard(model, plan), false).tiled, 1);
}

}  // namespace
}  // namespace podsim::workloads
