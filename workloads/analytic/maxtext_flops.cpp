#include "workloads/analytic/maxtext_flops.h"

#include <algorithm>

#include "workloads/analytic/step_flops.h"
#include "workloads/models/model.h"

namespace podsim::workloads {
namespace {

/// How a version counts.
struct Count {
    bool masked = true;   ///< half of the square
    bool windows = true;  ///< of local layers
    bool corner = true;   ///< of a window the queries at the start see less
    bool further = true;  ///< layers of further tokens
};

Count count_of(FlopRule rule) {
    switch (rule) {
        case FlopRule::maxtext_unwindowed:
            return {.windows = false};
        case FlopRule::maxtext_2025:
            return {.corner = false, .further = false};
        case FlopRule::maxtext_2024:
            return {.masked = false, .corner = false, .further = false};
        case FlopRule::maxtext_2024_unwindowed:
            return {.masked = false, .windows = false, .corner = false, .further = false};
        default:
            return {};
    }
}

/// Pairs of query and key, over the sequence.
double pairs(const ModelSpec& model, bool local, double sequence, const Count& count) {
    const double window = local && count.windows && model.window > 0
                              ? std::min(static_cast<double>(model.window), sequence)
                              : sequence;
    if (count.masked && count.corner) {
        return window - window * window / (2 * sequence);
    }
    return count.masked ? window / 2 : window;
}

double attention(const ModelSpec& model, LayerKind kind, double pairs_each) {
    const AttentionSizes sizes = attention_sizes(model, kind);
    return 6 * static_cast<double>(model.heads * (sizes.head_dim + sizes.value_dim)) * pairs_each;
}

}  // namespace

double maxtext_flops_per_token(const ModelSpec& model, std::int64_t sequence, FlopRule rule) {
    const Count count = count_of(rule);
    const auto length = static_cast<double>(sequence);
    const ParameterCount parameters = count_parameters(model);
    double flops = 6 * static_cast<double>(parameters.layers_matmul + parameters.embedding);
    for (const auto& [kind, layers] : layer_kinds(model)) {
        flops += static_cast<double>(layers) *
                 attention(model, kind, pairs(model, kind.local, length, count));
    }
    if (count.further) {
        const LayerKind last = layer_kind(model, model.layers - 1);
        flops += static_cast<double>(model.mtp_layers) *
                 (6 * static_cast<double>(count_layer(model, last).matmul()) +
                  attention(model, last, pairs(model, false, length, count)));
    }
    return flops;
}

}  // namespace podsim::workloads
