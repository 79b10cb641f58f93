#include "workloads/step/cache_work.h"

#include <algorithm>
#include <cmath>

#include "workloads/models/kv_cache.h"
#include "workloads/work/attention_seen.h"
#include "workloads/work/attention_work.h"
#include "workloads/work/matmul_work.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads {
namespace {

constexpr double kRowsOfArray = 128;
/// Operations of the vector unit in a kernel over pages, in addition to the softmax. A key or value
/// costs kUnpackedKey per element, from 32-bit words of K beside V to fp32, masked. A row costs
/// kAccumulated per lane of its accumulators and block of keys, with its maximum and sum across
/// lanes. Both are derived from the slowdown of prefill on v6e with context, of four models on one
/// and four chips (docs/decisions.md). They apply only in profiles with a kernel's steps.
constexpr double kUnpackedKey = 7;
constexpr double kAccumulated = 60;

/// A head's keys and values as attention reads them.
struct Widths {
    CachedWidths of_head;
    double heads = 0;   ///< of keys
    double stored = 0;  ///< elements of a token that one chip keeps in a layer
    /// Bytes of a key and its value, over all heads of a chip.
    double read = 0;
};

Widths widths_of(const Shard& s, const Shard::Run& run, const CachedScores& scores) {
    const bool latent = s.latent.width > 0;
    const CachedWidths widths =
        cached_widths(s.head_dim, s.value_dim, latent ? s.latent.kv_rank : 0, s.latent.rope_dim,
                      scores, run.fresh, s.cache.ways == 1);
    const double stored =
        latent ? s.latent.kv_rank + s.latent.rope_dim : s.kv_heads * (s.head_dim + s.value_dim);
    if (latent && !widths.latent) {
        const double complete = s.heads * (widths.key + widths.value) * s.precision.compute;
        return {.of_head = widths, .heads = s.heads, .stored = stored, .read = complete};
    }
    return {.of_head = widths,
            .heads = latent ? 1 : s.kv_heads,
            .stored = stored,
            .read = stored * s.cache.element};
}

/// Returns the keys that all blocks of `block` queries read together.
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

namespace {

/// Turns the work into that of a kernel over pages in blocks of queries, each of which goes through
/// the keys of its sequence block by block. The mask skips no block, a window skips those before
/// it, and all others are computed whole. A block is never longer than the run's queries or keys.
void take_blocks(Compute& work, const Shard& s, const Shard::Run& run, const Widths& widths,
                 double window, double pairs) {
    const CachedWidths& width = widths.of_head;
    const double columns = width.key + width.value;
    const double tokens = run.cached + run.fresh;
    const double of_q = std::min(s.attention_blocks.forward.q, run.fresh);
    const double of_kv = std::min(s.attention_blocks.forward.kv, tokens);
    const double of_queries = std::ceil(run.fresh / of_q);
    const double seen = window > 0 ? std::min(tokens, window - 1 + of_q) : tokens;
    const double steps = run.sequences * of_queries * std::ceil(seen / of_kv);
    const double keys = run.sequences * of_queries * seen;
    const double scores = of_q * of_kv * s.heads;
    const double moved = run.sequences * run.fresh * s.heads * columns * s.precision.compute;
    const double beside = scores * vector_unit::kSoftmax +
                          of_kv * widths.heads * columns * kUnpackedKey +
                          of_q * s.heads * width.value * kAccumulated;
    work.hbm = sim::Bytes(moved + keys * widths.read +
                          run.sequences * run.fresh * widths.stored * s.cache.element);
    work.vector = sim::Flops(steps * scores * vector_unit::kSoftmax);
    // Rows of all heads stream through the array, head after head.
    const double rows = of_q * s.heads;
    work.matmuls = {{rows, width.key, of_kv, steps}, {rows, of_kv, width.value, steps}};
    work.tiled = steps * scores / pairs;
    work.attention = true;
    work.grid_steps = 0;
    work.steps = {{.count = steps,
                   .tile = {.m = rows, .k = width.key, .n = of_kv * columns / width.key},
                   .bytes = (moved + keys * widths.read) / steps,
                   .beside = beside,
                   .loop = true}};
}

}  // namespace

Compute cached_attention(const Shard& s, const Shard::Run& run, bool local) {
    const bool by_batch = s.cache.split == CacheSplit::batch;
    const double window = local ? s.window : 0;
    const CachedScores scores = cached_scores(run.fresh, run.cached, window);
    const Widths widths = widths_of(s, run, scores);
    const CachedWidths& width = widths.of_head;
    const double heads = s.heads * s.cache.ways;
    const double sequences = by_batch ? run.attended : run.sequences;
    // The fraction of a sequence's keys; a single query counts whole keys.
    const double part = by_batch         ? 1
                        : run.fresh == 1 ? std::ceil(scores.keys / s.cache.ways) / scores.keys
                                         : 1 / s.cache.ways;
    const double rows = run.fresh * heads / widths.heads;
    const double pairs = sequences * heads * scores.pairs * part;
    const double block = std::max(1.0, std::floor(query_block_rows(s) * widths.heads / heads));
    const double keys = keys_read(scores, run.fresh, run.cached, window, block) * part * sequences;
    const double moved = sequences * run.fresh * heads * (width.key + width.value);
    const double written = sequences * run.fresh * part * widths.stored;
    Compute work{.flops = sim::Flops(2 * (width.key + width.value) * pairs),
                 .matmuls = {},
                 .hbm = sim::Bytes(moved * s.precision.compute + keys * widths.read +
                                   written * s.cache.element),
                 .vector = sim::Flops(pairs * vector_unit::kSoftmax),
                 .sequences = s.cache.dense ? 0 : sequences};
    if (rows >= kRowsOfArray) {
        const double count = sequences * widths.heads;
        const double seen = std::max(scores.keys * part, 1.0);
        work.matmuls = {{rows, width.key, seen, count}, {rows, seen, width.value, count}};
        work.attention = true;
        work.grid_steps = keys * widths.heads / kKeyBlock / s.cores;
    }
    if (s.attention_blocks.any() && run.fresh > 1) {
        take_blocks(work, s, run, widths, window, pairs);
    }
    return work;
}

std::optional<Compute> completed_keys(const Shard& s, const Shard::Run& run, bool local) {
    const CachedScores scores = cached_scores(run.fresh, run.cached, local ? s.window : 0);
    const Widths widths = widths_of(s, run, scores);
    const double tokens = run.sequences * widths.of_head.completed;
    if (tokens == 0) {
        return std::nullopt;
    }
    Compute work = complete_keys(s, tokens);
    // The kernel reads all stored elements, including the shared columns.
    work.hbm += sim::Bytes(
        tokens * (widths.stored * s.cache.element - s.latent.kv_rank * s.precision.compute));
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
