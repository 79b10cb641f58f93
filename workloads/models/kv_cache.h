// The key/value cache: bytes of a token and of a sequence, and what attention sees of it.
//
// Symbols of model.h; e bytes of a stored element.
//   plain attention    2 of a head's H (keys and values): K (H + Hv) e a token and layer
//   latent attention   the latent vector and the shared rope columns: (kv + rope) e, whatever the heads
//   a local layer      holds the last W tokens of its window, no more
// Source: How to Scale Your Model, section 7: 2 bytes_per_float H K L T.
#pragma once

#include "sim/base/quantity.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

/// Elements that a layer of that kind keeps of one token, all heads together.
double cache_elements(const ModelSpec& model, LayerKind kind);

/// Tokens that a layer of that kind keeps of a sequence of so many.
double cached_tokens(const ModelSpec& model, LayerKind kind, double tokens);

/// Of a sequence of so many tokens, all layers.
sim::Bytes cache_bytes(const ModelSpec& model, double tokens, double element);

/// What the attention of one sequence and head sees: `fresh` queries behind `cached` tokens. A query sees those before it and
/// itself, with a window (0: none) the last of them.
struct CachedScores {
    double pairs = 0;  ///< of a query and a key
    double keys = 0;   ///< that any of the queries sees
};
CachedScores cached_scores(double fresh, double cached, double window);

/// How attention over the cache multiplies a head's keys and values, of a run that sees `scores` and brings `fresh` tokens.
///   plain attention    H and Hv
///   latent attention   of the two forms that which takes fewer FLOPs (DeepSeek-V2, 2024, section 2.1.2): up projections absorbed into
///                      queries and outputs, (2 kv + rope) pairs, as in decode; or keys and values made complete, those of new tokens
///                      by the projections that are there anyway, (H + Hv) pairs + kv (H - rope + Hv) for each cached one, as in prefill
struct CachedWidths {
    double key = 0;
    double value = 0;
    bool latent = false;      ///< the keys are the latent vectors, one for all heads
    double completed = 0;     ///< cached keys of a sequence that are made complete
    double of_completed = 0;  ///< FLOPs of one of them, for each head
};
/// `may_complete`: not of members of the axis `cache`, which exchange queries and outputs of latent width.
CachedWidths cached_widths(double head_dim, double value_dim, double kv_rank, double rope_dim,
                           const CachedScores& scores, double fresh, bool may_complete);

}  // namespace podsim::workloads
