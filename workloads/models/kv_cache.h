// The key/value cache: bytes of a token and of a sequence, and the keys that attention sees.
//
// Symbols are those of model.h; a stored element has e bytes.
//   plain attention    2 of a head's H (keys and values): K (H + Hv) e a token and layer
//   latent attention   the latent vector and the shared rope columns: (kv + rope) e, for any heads
//   a local layer      holds the last W tokens of its window, no more
// Source: How to Scale Your Model, section 7: 2 bytes_per_float H K L T.
#pragma once

#include "sim/base/quantity.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

/// Returns the elements that a layer of that kind keeps of one token, all heads together.
double cache_elements(const ModelSpec& model, LayerKind kind);

/// Returns the tokens that a layer of that kind keeps of a sequence of `tokens`.
double cached_tokens(const ModelSpec& model, LayerKind kind, double tokens);

/// Returns the cache of a sequence of `tokens`, all layers.
sim::Bytes cache_bytes(const ModelSpec& model, double tokens, double element);

/// The keys that the attention of one sequence and head sees: `fresh` queries after `cached`
/// tokens. A query sees the tokens before it and itself; with a window (0: none), the last of them.
struct CachedScores {
    double pairs = 0;  ///< of a query and a key
    double keys = 0;   ///< seen by any of the queries
};
CachedScores cached_scores(double fresh, double cached, double window);

/// The widths at which attention over the cache multiplies a head's keys and values, in a run that
/// sees `scores` and brings `fresh` tokens.
///   plain attention    H and Hv
///   latent attention   the form with fewer FLOPs (DeepSeek-V2, 2024, section 2.1.2). Either up
///                      projections are absorbed into queries and outputs, (2 kv + rope) pairs, as
///                      in decode. Or keys and values are made complete, as in prefill: those of
///                      new tokens by the projections that are there anyway, (H + Hv) pairs +
///                      kv (H - rope + Hv) for each cached one
struct CachedWidths {
    double key = 0;
    double value = 0;
    bool latent = false;      ///< the keys are the latent vectors, one for all heads
    double completed = 0;     ///< cached keys of a sequence that are made complete
    double of_completed = 0;  ///< FLOPs of one of them, for each head
};
/// `may_complete`: false for members of the axis `cache`, which exchange queries and outputs of
/// latent width.
CachedWidths cached_widths(double head_dim, double value_dim, double kv_rank, double rope_dim,
                           const CachedScores& scores, double fresh, bool may_complete);

}  // namespace podsim::workloads
