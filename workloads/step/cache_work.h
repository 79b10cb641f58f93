// Cost of the operations of inference on one chip beyond those of a forward pass: attention over
// the cache, and sampling.
//
// Symbols as in work.h. A run of n sequences brings q new tokens to c cached ones; G = N / K query
// heads share keys and values; e bytes of a cached element. A query sees the tokens before it and
// itself, in a local layer the last W of them.
//   pairs     of a sequence and head: sum over its queries i < q of min(W, c + i + 1) (training's
//             integral, q^2 / 2, is the limit of long prompts)
//   FLOPs     2 (H + Hv) N n pairs; latent attention in the cheaper of its two forms
//             (models/kv_cache.h): with the up projections absorbed 2 (2 kv + rope) N n pairs, or
//             with complete keys and values 2 (H + Hv) N n pairs, and for each cached token
//             2 kv (H - rope + Hv) N n in a matmul before it; members of the axis `cache` always
//             absorb
//   HBM       queries and outputs n q N (H + Hv) b; cached and new keys and values, n min(c + q,
//             W + q - 1) tokens of cache_elements e, read once by every block of queries that sees
//             them; n q of them written. Complete keys and values are N (H + Hv) b each to read,
//             and those of cached tokens are first made of their latent vectors and written
// Rows of dot products: q G share keys. Fewer than 128 of them do not fill a systolic array
// whichever operand stays in it, and the cost of that is not published. Their attention counts by
// its bytes and by FLOPs at the full peak (the reference text, section 7, counts the bytes alone).
// From 128 rows on it is a flash kernel's, as in training.
//
// With blocks of q' queries and k' keys (inference.attention_blocks; as sglang-jax's kernel over
// pages, `process`), neither longer than the run's, a run of several new tokens takes
// n ceil(q / q') ceil(s / k') steps. Each step has q' k' N scores, and every block of queries reads
// s = c + q keys, in a local layer min(c + q, W - 1 + q'). A step takes the longest of its dot
// products, its bytes, and the work of the vector unit: the softmax, k' keys and values of all
// heads unpacked and q' N rows accumulated. Ideally all overlap over the whole kernel, and only the
// softmax counts. Attention of single tokens is as above.
//
// With Z ways of cache (plan/cache_layout.h) a chip has n / Z sequences (split over the batch) or
// c / Z tokens (split over the sequence) of Z times its own query heads. With a single new token
// these are the whole tokens of the fullest member, with several the mean over members.
#pragma once

#include <optional>

#include "workloads/program/step_program.h"
#include "workloads/work/shard.h"

namespace podsim::workloads {

/// Returns the attention of one run to its cache.
Compute cached_attention(const Shard& shard, const Shard::Run& run, bool local);
/// Returns the completion of keys and values that are cached as latent vectors. It precedes
/// attention that multiplies complete keys and values; nothing if none are cached.
std::optional<Compute> completed_keys(const Shard& shard, const Shard::Run& run, bool local);

/// Returns the elements of queries, or of outputs, that a chip has per token. Only its own heads
/// count, not those that members of the axis `cache` bring.
double query_columns(const Shard& shard);
double output_columns(const Shard& shard);

/// Returns the rows whose logits are made, as a shard of their own.
Shard of_last_tokens(const Shard& shard);

/// Returns the choice of the next token from this chip's logits: softmax, and the largest.
Compute sampling(const Shard& last);

}  // namespace podsim::workloads
