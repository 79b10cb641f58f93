#include "workloads/serve/cache_work.h"

#include <algorithm>
#include <cmath>

#include "workloads/analytic/kv_cache.h"
#include "workloads/work/attention_work.h"
#include "workloads/work/matmul_work.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads {
namespace {

constexpr double kRowsOfArray = 128;

/// A head's keys and values as attention reads them.
struct Widths {
    double key = 0;
    double value = 0;
    double stored = 0;  ///< elements of a token that one chip keeps in a layer
    double heads = 0;   ///< heads of keys
};

Widths widths_of(const Shard& s) {
    if (s.latent.width > 0) {
        const double key = s.latent.kv_rank + s.latent.rope_dim;
        return {key, s.latent.kv_rank, key, 1};
    }
    return {s.head_dim, s.value_dim, s.kv_heads * (s.head_dim + s.value_dim), s.kv_heads};
}

/// Of so many, those that the fullest of Z members has: whole ones, but for the mean of several runs.
double shared(double count, double members) {
    return count == std::floor(count) ? std::ceil(count / members) : count / members;
}

/// Keys that blocks of `block` queries read, all blocks together.
double keys_read(const CachedScores& all, double fresh, double cached, double window,
                 double block) {
    if (block >= fresh) {
        return all.keys;
    }
    double keys = 0;
    for (double from = 0; from < fresh; from += block) {
        const double queries = std::min(block, fresh - from);
        keys += cached_scores(queries, cached + from, window).keys;
    }
    return keys;
}

}  // namespace

double query_columns(const Shard& s) {
    const double key = s.latent.width > 0 ? s.latent.kv_rank + s.latent.rope_dim : s.head_dim;
    return s.heads * key;
}

double output_columns(const Shard& s) {
    return s.heads * (s.latent.width > 0 ? s.latent.kv_rank : s.value_dim);
}

Compute cached_attention(const Shard& s, const Shard::Run& run, bool local) {
    const bool by_batch = s.cache.split == CacheSplit::batch;
    const double window = local ? s.window : 0;
    const CachedScores scores = cached_scores(run.fresh, run.cached, window);
    const Widths width = widths_of(s);
    const double heads = s.heads * s.cache.ways;
    const double sequences = by_batch ? shared(run.sequences, s.cache.ways) : run.sequences;
    // Of a sequence's keys; those of a single query are whole ones.
    const double part = by_batch         ? 1
                        : run.fresh == 1 ? shared(scores.keys, s.cache.ways) / scores.keys
                                         : 1 / s.cache.ways;
    const double rows = run.fresh * heads / width.heads;
    const double pairs = sequences * heads * scores.pairs * part;
    const double block = std::max(1.0, std::floor(query_block_rows(s) * width.heads / heads));
    const double keys = keys_read(scores, run.fresh, run.cached, window, block) * part * sequences;
    const double moved = sequences * run.fresh * heads * (width.key + width.value);
    const double written = sequences * run.fresh * part * width.stored;
    Compute work{.flops = sim::Flops(2 * (width.key + width.value) * pairs),
                 .matmuls = {},
                 .hbm = sim::Bytes(moved * s.precision.compute +
                                   (keys * width.stored + written) * s.cache.element),
                 .vector = sim::Flops(pairs * vector_unit::kSoftmax),
                 .sequences = s.cache.dense ? 0 : sequences};
    if (rows >= kRowsOfArray) {
        const double count = sequences * width.heads;
        const double seen = std::max(scores.keys * part, 1.0);
        work.matmuls = {{rows, width.key, seen, count}, {rows, seen, width.value, count}};
        work.attention = true;
    }
    return work;
}

Shard of_last_tokens(const Shard& shard) {
    Shard last = shard;
    last.tokens = 0;
    for (const Shard::Run& run : shard.runs) {
        last.tokens += run.sequences * run.logits;
    }
    last.rows = last.tokens / last.transposed;
    return last;
}

Compute sampling(const Shard& last) {
    const double logits = last.tokens * last.vocabulary;
    return only({logits * last.precision.logits, logits * vector_unit::kSoftmax});
}

}  // namespace podsim::workloads
