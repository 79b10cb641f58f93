#include "workloads/models/kv_cache.h"

#include <algorithm>

namespace podsim::workloads {

double cache_elements(const ModelSpec& model, LayerKind kind) {
    if (model.latent.kv_rank > 0) {
        return static_cast<double>(model.latent.kv_rank + model.latent.rope_dim);
    }
    const AttentionSizes sizes = attention_sizes(model, kind);
    return static_cast<double>(sizes.kv_heads * (sizes.head_dim + sizes.value_dim));
}

double cached_tokens(const ModelSpec& model, LayerKind kind, double tokens) {
    return kind.local ? std::min(tokens, static_cast<double>(model.window)) : tokens;
}

sim::Bytes cache_bytes(const ModelSpec& model, double tokens, double element) {
    double elements = 0;
    for (const auto& [kind, layers] : layer_kinds(model)) {
        elements += static_cast<double>(layers) * cached_tokens(model, kind, tokens) *
                    cache_elements(model, kind);
    }
    return sim::Bytes(elements * element);
}

CachedScores cached_scores(double fresh, double cached, double window) {
    if (window == 0 || cached + fresh <= window) {
        return {fresh * cached + fresh * (fresh + 1) / 2, cached + fresh};
    }
    // Queries before the window is full, and those after.
    const double growing = std::clamp(window - cached, 0.0, fresh);
    return {growing * cached + growing * (growing + 1) / 2 + (fresh - growing) * window,
            std::min(cached + fresh, window + fresh - 1)};
}

CachedWidths cached_widths(double head_dim, double value_dim, double kv_rank, double rope_dim,
                           const CachedScores& scores, double fresh, bool may_complete) {
    if (kv_rank == 0) {
        return {.key = head_dim, .value = value_dim};
    }
    const double completed = std::max(scores.keys - fresh, 0.0);
    const double of_completed = 2 * kv_rank * (head_dim - rope_dim + value_dim);
    const double complete = 2 * (head_dim + value_dim) * scores.pairs + of_completed * completed;
    if (may_complete && complete < 2 * (2 * kv_rank + rope_dim) * scores.pairs) {
        return {.key = head_dim,
                .value = value_dim,
                .completed = completed,
                .of_completed = of_completed};
    }
    return {.key = kv_rank + rope_dim, .value = kv_rank, .latent = true};
}

}  // namespace podsim::workloads
