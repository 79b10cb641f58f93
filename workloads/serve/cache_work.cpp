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
    CachedWidths of_head;
    double heads = 0;   ///< of keys
    double stored = 0;  ///< elements of a token that one chip keeps in a layer
    double read = 0;    ///< bytes of a key and its value, all heads that a chip has
};

/// With ways of cache latent vectors stay what they are: their members exchange queries and outputs.
Widths widths_of(const Shard& s, const Shard::Run& run, const CachedScores& scores) {
    if (s.latent.width == 0) {
        const double stored = s.kv_heads * (s.head_dim + s.value_dim);
        return {{.key = s.head_dim, .value = s.value_dim},
                s.kv_heads,
                stored,
                stored * s.cache.element};
    }
    const double stored = s.latent.kv_rank + s.latent.rope_dim;
    const CachedWidths widths = cached_widths(s.head_dim, s.value_dim, s.latent.kv_rank,
                                              s.latent.rope_dim, scores, run.fresh);
    if (widths.latent || s.cache.ways > 1) {
        return {{.key = stored, .value = s.latent.kv_rank, .latent = true},
                1,
                stored,
                stored * s.cache.element};
    }
    return {widths, s.heads, stored, s.heads * (widths.key + widths.value) * s.precision.compute};
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
    const Widths widths = widths_of(s, run, scores);
    const CachedWidths& width = widths.of_head;
    const double heads = s.heads * s.cache.ways;
    const double sequences = by_batch ? shared(run.sequences, s.cache.ways) : run.sequences;
    // Of a sequence's keys; those of a single query are whole ones.
    const double part = by_batch         ? 1
                        : run.fresh == 1 ? shared(scores.keys, s.cache.ways) / scores.keys
                                         : 1 / s.cache.ways;
    const double rows = run.fresh * heads / widths.heads;
    const double pairs = sequences * heads * scores.pairs * part;
    const double block = std::max(1.0, std::floor(query_block_rows(s) * widths.heads / heads));
    const double keys = keys_read(scores, run.fresh, run.cached, window, block) * part * sequences;
    const double moved = sequences * run.fresh * heads * (width.key + width.value);
    const double written = sequences * run.fresh * part * widths.stored;
    // Cached keys that are made complete: their latent vectors are read, keys and values without the shared columns written.
    const double completed = sequences * width.completed;
    const double made = completed * (widths.stored * s.cache.element +
                                     s.heads * (s.head_dim - s.latent.rope_dim + s.value_dim) *
                                         s.precision.compute);
    Compute work{.flops = sim::Flops(2 * (width.key + width.value) * pairs +
                                     completed * heads * width.of_completed),
                 .matmuls = {},
                 .hbm = sim::Bytes(moved * s.precision.compute + keys * widths.read +
                                   written * s.cache.element + made),
                 .vector = sim::Flops(pairs * vector_unit::kSoftmax),
                 .sequences = s.cache.dense ? 0 : sequences};
    if (rows >= kRowsOfArray) {
        const double count = sequences * widths.heads;
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
