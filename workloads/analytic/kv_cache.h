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

/// Elements that a layer keeps of one token, all heads together.
double cache_elements(const ModelSpec& model);

/// Tokens that a layer of that kind keeps of a sequence of so many.
double cached_tokens(const ModelSpec& model, LayerKind kind, double tokens);

/// Of a sequence of so many tokens, all layers.
sim::Bytes cache_bytes(const ModelSpec& model, double tokens, double element);

/// The same of the layers from `first` to before `end`.
sim::Bytes cache_bytes(const ModelSpec& model, int first, int end, double tokens, double element);

/// What the attention of one sequence and head sees: `fresh` queries behind `cached` tokens. A query sees those before it and
/// itself, with a window (0: none) the last of them.
struct CachedScores {
    double pairs = 0;  ///< of a query and a key
    double keys = 0;   ///< that any of the queries sees
};
CachedScores cached_scores(double fresh, double cached, double window);

/// Columns of a head's key and value as attention over the cache multiplies them: H and Hv; of latent attention, whose up
/// projections are absorbed into queries and outputs, kv + rope and kv.
double cached_head_width(const ModelSpec& model);

}  // namespace podsim::workloads
