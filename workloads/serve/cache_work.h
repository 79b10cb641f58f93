// What the operations of inference cost one chip beyond those of a forward pass: attention over the cache, and sampling.
//
// Symbols as in work.h; a run of n sequences brings q new tokens to c cached ones; G = N / K query heads share keys and values;
// e bytes of a cached element. A query sees the tokens before it and itself, in a local layer the last W of them.
//   pairs     of a sequence and head: sum over its queries i < q of min(W, c + i + 1) (training's integral, q^2 / 2, is
//             the limit of long prompts)
//   FLOPs     2 (H + Hv) N n pairs; latent attention in the cheaper of its two forms (analytic/kv_cache.h): with the up projections
//             absorbed 2 (2 kv + rope) N n pairs, or with keys and values made complete 2 (H + Hv) N n pairs, and for each cached
//             token 2 kv (H - rope + Hv) N n in a matmul before it; members of the axis `cache` always absorb
//   HBM       queries and outputs n q N (H + Hv) b; cached and new keys and values, n min(c + q, W + q - 1) tokens of
//             cache_elements e, read once by every block of queries that sees them; n q of them written. Complete keys and values are
//             N (H + Hv) b each to read, and those of cached tokens are made of their latent vectors and written first
// Rows of dot products: q G that share keys. Fewer than 128 of them fill no systolic array whichever operand stays in
// it, and what that costs is not published: such attention counts by its bytes and by FLOPs at the full peak (the
// reference text, section 7, counts the bytes alone). From 128 rows on it is a flash kernel's like that of training.
// With blocks of q' queries and k' keys (inference.attention_blocks; as sglang-jax's kernel over pages, `process`), neither longer than the
// run's, a run of several new tokens takes n ceil(q / q') ceil(s / k') steps, each of q' k' N scores, where every block of queries reads
// s = c + q keys, in a local layer min(c + q, W - 1 + q'). A step takes the
// longest of its dot products, its bytes, and on the vector unit the softmax, k' keys and values of all heads unpacked and q' N rows
// accumulated; ideally all overlap over the whole kernel, and only the softmax counts. Attention of single tokens is as above.
// With Z ways of cache (plan/cache_layout.h) a chip has n / Z sequences (split over the batch) or c / Z tokens (over the
// sequence) of Z times its own query heads, whole ones of the fullest member; of several new tokens the mean over members.
#pragma once

#include <optional>

#include "workloads/program/step_program.h"
#include "workloads/shards/shard.h"

namespace podsim::workloads {

/// Attention of one run to its cache.
Compute cached_attention(const Shard& shard, const Shard::Run& run, bool local);
/// Before it, where it multiplies complete keys and values and some are cached as latent vectors: those.
std::optional<Compute> completed_keys(const Shard& shard, const Shard::Run& run, bool local);

/// Elements of queries, or of outputs, that a chip has of all its tokens: of its own heads, and with those that members of the
/// axis `cache` bring.
double query_columns(const Shard& shard);
double output_columns(const Shard& shard);

/// The rows whose logits are made, as a shard of their own.
Shard of_last_tokens(const Shard& shard);

/// Choice of the next token from this chip's logits: softmax, and the largest.
Compute sampling(const Shard& last);

}  // namespace podsim::workloads
