// Every query meets every key of its sequence once, for any layout of the cache. The cost of
// attention is that of the pairs that the fullest chip computes.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "workloads/models/kv_cache.h"
#include "workloads/models/model.h"
#include "workloads/plan/cache_layout.h"
#include "workloads/plan/plan.h"
#include "workloads/step/cache_work.h"

namespace podsim::workloads {
namespace {

struct Case {
    std::int64_t heads = 8;
    std::int64_t kv_heads = 2;
    std::int64_t tensor = 2;
    std::int64_t members = 2;
    CacheSplit split = CacheSplit::batch;
    std::int64_t sequences = 5;
    std::int64_t fresh = 1;
    std::int64_t cached = 7;
    std::int64_t window = 0;
};

/// A query in transit: its head, its sequence, its index among the new tokens.
using Query = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
/// A query and a key of its sequence.
using Pair = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

CacheLayout layout_of(const Case& one) {
    return {one.heads, one.kv_heads, one.tensor, one.members, one.split};
}

/// Returns the queries of a chip after the exchange over `cache`: an AllToAll gives each member
/// those of its sequences, an AllGather all of them.
std::set<Query> arrived(const Case& one, std::int64_t y, std::int64_t z) {
    std::set<Query> here;
    for (std::int64_t from = 0; from < one.members; ++from) {
        const HeadRange own = layout_of(one).own_queries(y, from);
        for (std::int64_t head = own.first; head < own.end; ++head) {
            for (std::int64_t sequence = 0; sequence < one.sequences; ++sequence) {
                const bool for_me =
                    one.split == CacheSplit::sequence || layout_of(one).holds(z, sequence, 0);
                for (std::int64_t i = 0; for_me && i < one.fresh; ++i) {
                    here.insert({head, sequence, i});
                }
            }
        }
    }
    return here;
}

/// Returns the pairs that a chip computes: its queries
/// with the keys that it holds, of heads that it holds.
std::vector<Pair> computed(const Case& one, std::int64_t y, std::int64_t z) {
    const CacheLayout layout = layout_of(one);
    std::vector<Pair> pairs;
    for (const auto& [head, sequence, i] : arrived(one, y, z)) {
        const std::int64_t key_head = head / (one.heads / one.kv_heads);
        const HeadRange held = layout.held_heads(y);
        EXPECT_TRUE(held.first <= key_head && key_head < held.end);
        const std::int64_t last = one.cached + i;  // a query sees itself
        const std::int64_t first =
            one.window == 0 ? 0 : std::max<std::int64_t>(0, last - one.window + 1);
        for (std::int64_t key = first; key <= last; ++key) {
            if (layout.holds(z, sequence, key)) {
                pairs.push_back({head, sequence, i, key});
            }
        }
    }
    return pairs;
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const CacheSplit split : {CacheSplit::batch, CacheSplit::sequence}) {
        for (const std::int64_t members : {1, 2, 4}) {
            for (const std::int64_t kv_heads : {1, 2, 8}) {
                for (const std::int64_t window : {0, 3}) {
                    for (const std::int64_t fresh : {1, 4}) {
                        all.push_back({8, kv_heads, 2, members, split, 5, fresh, 7, window});
                    }
                }
            }
        }
    }
    all.push_back({24, 3, 4, 2, CacheSplit::batch, 3, 1, 4, 0});  // heads cross tensor shards
    return all;
}

TEST(CachedAttentionTest, EveryQueryMeetsEveryKeyOfItsSequenceOnce) {
    for (const Case& one : cases()) {
        std::map<Pair, int> met;
        for (std::int64_t y = 0; y < one.tensor; ++y) {
            for (std::int64_t z = 0; z < one.members; ++z) {
                for (const Pair& pair : computed(one, y, z)) {
                    ++met[pair];
                }
            }
        }
        const CachedScores scores =
            cached_scores(static_cast<double>(one.fresh), static_cast<double>(one.cached),
                          static_cast<double>(one.window));
        EXPECT_EQ(static_cast<double>(met.size()),
                  scores.pairs * static_cast<double>(one.heads * one.sequences));
        EXPECT_TRUE(std::ranges::all_of(met, [](const auto& entry) { return entry.second == 1; }));
    }
}

Shard shard_of(const Case& one) {
    const CacheLayout layout = layout_of(one);
    Shard shard;
    shard.heads = static_cast<double>(one.heads) / static_cast<double>(one.tensor * one.members);
    shard.kv_heads = static_cast<double>(layout.most_heads());
    shard.head_dim = shard.value_dim = 16;
    shard.window = static_cast<double>(one.window);
    shard.vmem = 1e9;
    shard.cache = {static_cast<double>(one.members), one.split, 1};
    return shard;
}

TEST(CachedAttentionTest, CostsThePairsOfTheFullestChip) {
    for (const Case& one : cases()) {
        std::size_t most = 0;
        std::size_t all = 0;
        for (std::int64_t z = 0; z < one.members; ++z) {
            most = std::max(most, computed(one, 0, z).size());
            all += computed(one, 0, z).size();
        }
        // Members of a split sequence with several new tokens have the mean.
        const bool mean = one.split == CacheSplit::sequence && one.fresh > 1;
        const double pairs = mean ? static_cast<double>(all) / static_cast<double>(one.members)
                                  : static_cast<double>(most);
        const Shard::Run run{static_cast<double>(one.sequences),
                             static_cast<double>(layout_of(one).share(one.sequences)),
                             static_cast<double>(one.fresh), static_cast<double>(one.cached), 1};
        EXPECT_DOUBLE_EQ(cached_attention(shard_of(one), run, one.window > 0).flops.value(),
                         2 * (16 + 16) * pairs);
    }
}

TEST(CachedAttentionTest, ReadsQueriesKeysAndOutputsOnceAndWritesNewKeys) {
    // 5 sequences have 7 cached tokens and one new each; 8 query heads on tensor 2 with 2 heads of
    // keys leave 4 and 1 on this chip.
    Case one;
    one.members = 1;
    const Shard::Run run{5, 5, 1, 7, 1};
    const double queries = 5 * 1 * 4 * 16;
    const double keys = 5 * 8 * 1 * (16 + 16);  // including the new one
    const double written = 5 * 1 * 1 * (16 + 16);
    EXPECT_DOUBLE_EQ(cached_attention(shard_of(one), run, false).hbm.value(),
                     2 * queries * 2 + (keys + written) * 1);
}

// Latent attention has 4 heads of 128 + 64 columns and values of 128, kv 512. Absorbed it takes 2 x
// (512 + 64 + 512) = 2176 FLOPs a pair, complete 2 x (192 + 128) = 640, and 2 x 512 x (128 + 128) =
// 2^18 for each cached key, which a matmul completes before.
TEST(CachedAttentionTest, LatentAttentionTakesTheCheaperForm) {
    Case one;
    one.members = 1;
    Shard shard = shard_of(one);
    shard.head_dim = 192;
    shard.value_dim = 128;
    shard.latent.width = 1;
    shard.latent.kv_rank = 512;
    shard.latent.rope_dim = 64;
    const auto flops = [&](double fresh, double cached) {
        return cached_attention(shard, {2, 2, fresh, cached, 1}, false).flops.value() / (2 * 4);
    };
    EXPECT_DOUBLE_EQ(flops(1, 7), 2176 * 8);
    EXPECT_DOUBLE_EQ(flops(8, 0), 640 * 36);
    EXPECT_DOUBLE_EQ(flops(8, 8), 2176 * 100);
    EXPECT_DOUBLE_EQ(flops(512, 512), 640 * (512 * 512 + 512 * 513 / 2));
    // Queries, outputs and complete keys and values are
    // bf16, latent vectors have one byte an element.
    EXPECT_DOUBLE_EQ(cached_attention(shard, {2, 2, 8, 0, 1}, false).hbm.value(),
                     2 * 8 * (4 * 320 * 2 + 4 * 320 * 2 + 576));
    EXPECT_DOUBLE_EQ(cached_attention(shard, {1, 1, 512, 512, 1}, false).hbm.value(),
                     512 * (4 * 320 * 2 + 576) + 1024 * 4 * 320 * 2);
    for (const auto& [fresh, cached] : {std::pair(1, 7), {8, 0}, {8, 8}}) {
        const Shard::Run run{2, 2, static_cast<double>(fresh), static_cast<double>(cached), 1};
        EXPECT_FALSE(completed_keys(shard, run, false).has_value()) << fresh;
    }
    // Latent vectors of 576 bytes are read, 256 columns of each
    // head written, and a matrix of 512 x 1024 read in bf16.
    const Compute keys = *completed_keys(shard, {2, 2, 512, 512, 1}, false);
    EXPECT_DOUBLE_EQ(keys.flops.value(), 2 * 4 * 512 * 0x1p18);
    ASSERT_EQ(keys.matmuls.size(), 1U);
    EXPECT_EQ(keys.matmuls[0].m, 1024);
    EXPECT_DOUBLE_EQ(keys.hbm.value(), 1024 * (576 + 1024 * 2) + 512 * 1024 * shard.weight_bytes);
    // Members of the axis cache exchange queries of latent width.
    shard.cache.ways = 2;
    EXPECT_DOUBLE_EQ(cached_attention(shard, {2, 1, 8, 0, 1}, false).flops.value(), 2176 * 36 * 8);
    EXPECT_FALSE(completed_keys(shard, {2, 2, 512, 512, 1}, false).has_value());
}

TEST(CachedAttentionTest, ScoresOfAWindowGrowUntilItIsFull) {
    // Queries at positions 2 .. 6 with a window of 4 see 3, 4,
    // 4, 4, 4 keys; the first visible key is at position 0.
    const CachedScores scores = cached_scores(5, 2, 4);
    EXPECT_EQ(scores.pairs, 19);
    EXPECT_EQ(scores.keys, 7);
    // Far from the start they see 4 keys each, from position 7 on.
    EXPECT_EQ(cached_scores(5, 10, 4).pairs, 20);
    EXPECT_EQ(cached_scores(5, 10, 4).keys, 8);
    EXPECT_EQ(cached_scores(1, 8192, 0).pairs, 8193);
    EXPECT_EQ(cached_scores(4, 0, 0).pairs, 10);
}

TEST(CachedAttentionTest, FewRowsCountByTheirBytesAndManyAsAKernel) {
    Case one;
    one.members = 1;
    const Shard shard = shard_of(one);  // 4 query heads of one head of keys
    EXPECT_TRUE(cached_attention(shard, {1, 1, 31, 7, 1}, false).matmuls.empty());
    const Compute many = cached_attention(shard, {1, 1, 32, 7, 1}, false);
    ASSERT_EQ(many.matmuls.size(), 2);
    EXPECT_EQ(many.matmuls[0].m, 128);
    EXPECT_EQ(many.matmuls[0].n, 39);
    EXPECT_TRUE(many.attention);
}

// Two sequences have 5 new tokens behind 7 cached ones, in blocks of 2 queries and 5
// keys. 3 blocks of queries go through 3 blocks of keys each, so that 2 x 9 steps
// compute 2 x 5 x 4 scores each: 720, where the mask leaves 2 x 4 x (8 + 9 + 10 + 11 +
// 12) = 400. Every block of queries reads all 12 keys of its sequence, 1 head of 16 +
// 16 bytes; queries and outputs are 2 x 5 x 4 x 32 elements of bf16. Beside its tile a
// step has 40 softmaxes, unpacks 5 x 32 elements, and adds up 2 x 4 rows of 16 columns.
TEST(CachedAttentionTest, OfAKernelOverPagesGoesThroughAllKeysInWholeBlocks) {
    Case one;
    one.members = 1;
    Shard shard = shard_of(one);
    shard.attention_blocks.forward = {.q = 2, .kv = 5};
    const Compute work = cached_attention(shard, {2, 2, 5, 7, 1}, false);
    EXPECT_EQ(work.flops.value(), 2 * 32 * 400);
    EXPECT_DOUBLE_EQ(work.tiled, 720.0 / 400);
    EXPECT_TRUE(work.attention);
    ASSERT_EQ(work.steps.size(), 1U);
    const KernelStep& step = work.steps.front();
    EXPECT_EQ(step.count, 18);
    EXPECT_TRUE(step.loop);
    EXPECT_EQ(step.tile.m * step.tile.k * step.tile.n, 40 * 32);
    EXPECT_EQ(step.beside, 40 * 7 + 5 * 32 * 7 + 8 * 16 * 60);
    const double moved = 2.0 * 5 * 4 * 32 * 2;
    const double keys = 2.0 * 3 * 12 * 32;
    EXPECT_DOUBLE_EQ(step.bytes * 18, moved + keys);
    EXPECT_DOUBLE_EQ(work.hbm.value(), moved + keys + 2.0 * 5 * 32);
    EXPECT_EQ(work.vector.value(), 720 * 7);
    // A window of 3 leaves each block of queries the 4 keys that
    // its two see; a single token is not a block of queries.
    shard.window = 3;
    const Compute local = cached_attention(shard, {2, 2, 5, 7, 1}, true);
    EXPECT_EQ(local.steps.front().count, 2 * 3);
    EXPECT_DOUBLE_EQ(local.hbm.value(), moved + 2.0 * 3 * 4 * 32 + 2.0 * 5 * 32);
    // Blocks are no longer than the run: 5 queries and 12 keys in each.
    shard.attention_blocks.forward = {.q = 1024, .kv = 1024};
    const Compute one_block = cached_attention(shard, {2, 2, 5, 7, 1}, false);
    EXPECT_EQ(one_block.steps.front().count, 2);
    EXPECT_DOUBLE_EQ(one_block.tiled, 2.0 * 5 * 12 * 4 / 400);
    EXPECT_TRUE(cached_attention(shard, {2, 2, 1, 7, 1}, false).steps.empty());
}

}  // namespace
}  // namespace podsim::workloads
