#include "workloads/models/model.h"

#include <algorithm>
#include <fmt/format.h>

#include "workloads/models/setting_error.h"

namespace podsim::workloads {
namespace {

void check_range(std::string_view field, std::int64_t value, std::int64_t limit,
                 std::int64_t least = 1) {
    if (value < least || value > limit) {
        throw SettingError(fmt::format("model.{}", field),
                           fmt::format("{} = {} is out of range", field, value),
                           fmt::format("allowed are {} to {}", least, limit));
    }
}

std::int64_t attention_matrices(const ModelSpec& model) {
    if (model.latent.kv_rank == 0) {
        return model.d_model * model.head_dim * (2 * model.heads + 2 * model.kv_heads);
    }
    const LatentAttention& latent = model.latent;
    const std::int64_t queries = model.heads * model.head_dim;
    const std::int64_t query_matrices =
        latent.q_rank > 0 ? latent.q_rank * (model.d_model + queries) : model.d_model * queries;
    return query_matrices + model.d_model * (latent.kv_rank + latent.rope_dim) +
           latent.kv_rank * model.heads * (model.head_dim - latent.rope_dim + latent.value_dim) +
           model.heads * latent.value_dim * model.d_model;
}

std::int64_t norm_width(const ModelSpec& model) {
    return (model.norm == Norm::layer ? 2 : 1) * model.d_model;
}

void check_latent(const ModelSpec& model) {
    const LatentAttention& latent = model.latent;
    check_range("latent.q_rank", latent.q_rank, ModelLimits::d_model, 0);
    check_range("latent.kv_rank", latent.kv_rank, ModelLimits::d_model);
    check_range("latent.rope_dim", latent.rope_dim, model.head_dim, 0);
    check_range("latent.value_dim", latent.value_dim, ModelLimits::head_dim);
    if (model.kv_heads != model.heads) {
        throw SettingError(
            "model.kv_heads", fmt::format("kv_heads = {} beside latent attention", model.kv_heads),
            fmt::format(
                "every head has keys and values of its own: leave kv_heads out, or write {}",
                model.heads));
    }
}

void check_experts(const ModelSpec& model) {
    const Experts& experts = model.experts;
    check_range("experts.count", experts.count, ModelLimits::experts);
    check_range("experts.per_token", experts.per_token, experts.count);
    check_range("experts.shared", experts.shared, ModelLimits::experts, 0);
    check_range("experts.d_ff", experts.d_ff, ModelLimits::d_ff);
    check_range("experts.first_dense", experts.first_dense, model.layers, 0);
    check_range("experts.every", experts.every, model.layers);
    if ((experts.count + experts.shared) * experts.d_ff > ModelLimits::expert_columns) {
        throw SettingError("model.experts.d_ff",
                           fmt::format("experts.d_ff = {} for {} experts is out of range",
                                       experts.d_ff, experts.count + experts.shared),
                           fmt::format("all experts of a layer have at most {} columns",
                                       ModelLimits::expert_columns));
    }
    if (model.mlp_bias) {
        throw SettingError("model.biases", "biases of experts are not modelled",
                           "leave the MLP's biases out of a model with experts");
    }
}

}  // namespace

LayerKind layer_kind(const ModelSpec& model, std::int64_t layer) {
    const Experts& experts = model.experts;
    const std::int64_t behind = layer - experts.first_dense;
    return {.experts = experts.count > 0 && behind >= 0 && (behind + 1) % experts.every == 0,
            .local = model.window > 0 &&
                     (model.global_every == 0 || (layer + 1) % model.global_every != 0)};
}

std::map<LayerKind, std::int64_t> layer_kinds(const ModelSpec& model) {
    std::map<LayerKind, std::int64_t> kinds;
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        ++kinds[layer_kind(model, layer)];
    }
    return kinds;
}

LayerParameters count_layer(const ModelSpec& model, LayerKind kind) {
    const std::int64_t matrices = model.gated_mlp ? 3 : 2;
    LayerParameters count;
    count.attention = attention_matrices(model);
    count.vectors = model.norms * norm_width(model);
    if (model.latent.kv_rank > 0) {
        count.vectors += model.latent.q_rank + model.latent.kv_rank;
    }
    if (model.qk_norm) {
        count.vectors += 2 * model.head_dim;
    }
    if (model.qkv_bias) {
        count.vectors += (model.heads + 2 * model.kv_heads) * model.head_dim;
    }
    if (model.out_bias) {
        count.vectors += model.d_model;
    }
    if (kind.experts) {
        const std::int64_t expert = matrices * model.d_model * model.experts.d_ff;
        count.mlp = model.d_model * model.experts.count + model.experts.shared * expert;
        count.experts = model.experts.count * expert;
        count.experts_taken = model.experts.per_token * expert;
        count.vectors += model.experts.router_bias ? model.experts.count : 0;
        return count;
    }
    count.mlp = matrices * model.d_model * model.d_ff;
    if (model.mlp_bias) {
        count.vectors += (matrices - 1) * model.d_ff + model.d_model;
    }
    return count;
}

ParameterCount count_parameters(const ModelSpec& model) {
    ParameterCount count;
    std::int64_t not_taken = 0;
    for (const auto& [kind, layers] : layer_kinds(model)) {
        const LayerParameters layer = count_layer(model, kind);
        count.layers += layers * layer.total();
        count.layers_matmul += layers * layer.matmul();
        not_taken += layers * (layer.experts - layer.experts_taken);
    }
    count.embedding = model.vocabulary * model.d_model;
    count.positions = model.positions * model.d_model;
    count.unembedding = model.tied_embeddings ? 0 : count.embedding;
    count.final_norm = norm_width(model);
    count.total =
        count.layers + count.embedding + count.positions + count.unembedding + count.final_norm;
    count.active = count.total - not_taken;
    return count;
}

double attention_pairs(const ModelSpec& model, LayerKind kind, double sequence, bool causal) {
    const double seen =
        kind.local ? std::min(sequence, static_cast<double>(model.window)) : sequence;
    return sequence * seen - (causal ? seen * seen / 2 : 0);
}

FlopsPerToken training_flops_per_token(const ModelSpec& model, std::int64_t sequence, bool causal) {
    FlopsPerToken flops;
    const ParameterCount count = count_parameters(model);
    flops.matmul = 6.0 * static_cast<double>(count.layers_matmul + count.embedding);
    flops.parameters = 6.0 * static_cast<double>(count.active);
    const auto length = static_cast<double>(sequence);
    const auto widths = static_cast<double>(model.heads * (model.head_dim + value_dim(model)));
    for (const auto& [kind, layers] : layer_kinds(model)) {
        flops.attention += static_cast<double>(layers) * 6 * widths *
                           (attention_pairs(model, kind, length, causal) / length);
    }
    return flops;
}

void validate(const ModelSpec& model) {
    check_range("layers", model.layers, ModelLimits::layers);
    check_range("d_model", model.d_model, ModelLimits::d_model);
    check_range("d_ff", model.d_ff, ModelLimits::d_ff);
    check_range("heads", model.heads, ModelLimits::heads);
    check_range("kv_heads", model.kv_heads, model.heads);
    check_range("head_dim", model.head_dim, ModelLimits::head_dim);
    check_range("vocabulary", model.vocabulary, ModelLimits::vocabulary);
    check_range("norms", model.norms, 4);
    check_range("positions", model.positions, ModelLimits::vocabulary, 0);
    check_range("window", model.window, 1LL << 40, 0);
    check_range("global_every", model.global_every, model.layers, 0);
    if (model.heads % model.kv_heads != 0) {
        throw SettingError(
            "model.kv_heads",
            fmt::format("kv_heads = {} does not divide heads = {}", model.kv_heads, model.heads),
            "every key/value head serves the same number of query heads");
    }
    if (model.global_every > 0 && model.window == 0) {
        throw SettingError("model.global_every", "global_every without a window",
                           "give the window of local attention");
    }
    if (model.latent != LatentAttention{}) {
        check_latent(model);
    }
    if (model.experts != Experts{}) {
        check_experts(model);
        if (model.parallel_block) {
            throw SettingError("model.parallel_block",
                               "parallel_block beside experts is not modelled",
                               "leave one of the two out");
        }
    }
}

}  // namespace podsim::workloads
