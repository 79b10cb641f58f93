#include "workloads/models/model.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/base/input_faults.h"
#include "workloads/models/setting_error.h"

namespace podsim::workloads {
namespace {

void check_range(sim::InputFaults& faults, std::string_view field, std::int64_t value,
                 std::int64_t limit, std::int64_t least = 1) {
    if (value < least || value > limit) {
        const std::string setting = fmt::format("model.{}", field);
        faults.check(setting, {setting}, [&] {
            throw SettingError(setting, fmt::format("{} = {} is out of range", field, value),
                               fmt::format("allowed are {} to {}", least, limit));
        });
    }
}

std::int64_t attention_matrices(const ModelSpec& model, const AttentionSizes& sizes) {
    if (model.latent.kv_rank == 0) {
        return model.d_model * (2 * model.heads * sizes.head_dim + sizes.kv_projection());
    }
    const LatentAttention& latent = model.latent;
    const std::int64_t queries = model.heads * model.head_dim;
    const std::int64_t query_matrices =
        latent.q_rank > 0 ? latent.q_rank * (model.d_model + queries) : model.d_model * queries;
    return query_matrices + model.d_model * (latent.kv_rank + latent.rope_dim) +
           latent.kv_rank * model.heads * (model.head_dim - latent.rope_dim + latent.value_dim) +
           model.heads * latent.value_dim * model.d_model;
}

void check_global(const ModelSpec& model, sim::InputFaults& faults) {
    check_range(faults, "global.kv_heads", model.global.kv_heads, model.heads, 0);
    check_range(faults, "global.head_dim", model.global.head_dim, ModelLimits::head_dim, 0);
    faults.check("model.global.kv_heads", {"model.global.kv_heads", "model.heads"}, [&] {
        if (model.global.kv_heads > 0 && model.heads % model.global.kv_heads != 0) {
            throw SettingError("model.global.kv_heads",
                               fmt::format("global.kv_heads = {} does not divide heads = {}",
                                           model.global.kv_heads, model.heads),
                               "every key/value head serves the same number of query heads");
        }
    });
    faults.check("model.global", {"model.window", "model.global_every"}, [&] {
        if (model.global_every == 0) {
            throw SettingError("model.global", "sizes of global layers without global_every",
                               "give the window of local layers, and which layers are global");
        }
    });
}

void check_latent(const ModelSpec& model, sim::InputFaults& faults) {
    faults.check("model.latent", {"model.global", "model.shared_kv"}, [&] {
        if (model.global != GlobalAttention{} || model.shared_kv || model.v_norm) {
            throw SettingError(
                "model.latent",
                "latent attention beside global, shared_kv or v_norm is not modelled",
                "leave one of the two out");
        }
    });
    const LatentAttention& latent = model.latent;
    check_range(faults, "latent.q_rank", latent.q_rank, ModelLimits::d_model, 0);
    check_range(faults, "latent.kv_rank", latent.kv_rank, ModelLimits::d_model);
    faults.check("model.latent.rope_dim", {"model.head_dim"}, [&] {
        check_range(faults, "latent.rope_dim", latent.rope_dim, model.head_dim, 0);
    });
    check_range(faults, "latent.value_dim", latent.value_dim, ModelLimits::head_dim);
    faults.check("model.kv_heads", {"model.kv_heads", "model.heads"}, [&] {
        if (model.kv_heads != model.heads) {
            throw SettingError(
                "model.kv_heads",
                fmt::format("kv_heads = {} beside latent attention", model.kv_heads),
                fmt::format(
                    "every head has keys and values of its own: leave kv_heads out, or write {}",
                    model.heads));
        }
    });
}

void check_experts(const ModelSpec& model, sim::InputFaults& faults) {
    const Experts& experts = model.experts;
    check_range(faults, "experts.count", experts.count, ModelLimits::experts);
    faults.check("model.experts.per_token", {"model.experts.count"}, [&] {
        check_range(faults, "experts.per_token", experts.per_token, experts.count);
    });
    check_range(faults, "experts.shared", experts.shared, ModelLimits::experts, 0);
    check_range(faults, "experts.d_ff", experts.d_ff, ModelLimits::d_ff);
    check_range(faults, "experts.shared_d_ff", experts.shared_d_ff, ModelLimits::d_ff, 0);
    faults.check("model.experts.first_dense", {"model.layers"}, [&] {
        check_range(faults, "experts.first_dense", experts.first_dense, model.layers, 0);
    });
    faults.check("model.experts.every", {"model.layers"},
                 [&] { check_range(faults, "experts.every", experts.every, model.layers); });
    faults.check("model.experts.d_ff",
                 {"model.experts.count", "model.experts.shared", "model.experts.d_ff"}, [&] {
                     if (experts.count * experts.d_ff + experts.shared_columns() >
                         ModelLimits::expert_columns) {
                         throw SettingError(
                             "model.experts.d_ff",
                             fmt::format("experts.d_ff = {} for {} experts is out of range",
                                         experts.d_ff, experts.count + experts.shared),
                             fmt::format("all experts of a layer have at most {} columns",
                                         ModelLimits::expert_columns));
                     }
                 });
}

}  // namespace

std::int64_t norm_width(const ModelSpec& model) {
    return (model.norm == Norm::layer ? 2 : model.norm == Norm::rms ? 1 : 0) * model.d_model;
}

LayerKind layer_kind(const ModelSpec& model, std::int64_t layer) {
    const Experts& experts = model.experts;
    layer = std::min(layer, model.layers - 1);
    const std::int64_t behind = layer - experts.first_dense;
    return {.experts = experts.count > 0 && behind >= 0 && (behind + 1) % experts.every == 0,
            .local = model.window > 0 &&
                     (model.global_every == 0 || (layer + 1) % model.global_every != 0)};
}

bool has_layers(const ModelSpec& model, bool local) {
    return local ? model.window > 0 && model.global_every != 1
                 : model.window == 0 ||
                       (model.global_every > 0 && model.global_every <= model.layers);
}

std::map<LayerKind, std::int64_t> layer_kinds(const ModelSpec& model) {
    std::map<LayerKind, std::int64_t> kinds;
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        ++kinds[layer_kind(model, layer)];
    }
    return kinds;
}

AttentionSizes attention_sizes(const ModelSpec& model, LayerKind kind) {
    AttentionSizes sizes{.kv_heads = model.kv_heads,
                         .head_dim = model.head_dim,
                         .value_dim = 0,
                         .shared_kv = model.shared_kv};
    if (!kind.local) {
        const GlobalAttention& global = model.global;
        sizes.kv_heads = global.kv_heads > 0 ? global.kv_heads : sizes.kv_heads;
        sizes.head_dim = global.head_dim > 0 ? global.head_dim : sizes.head_dim;
        sizes.shared_kv = sizes.shared_kv || global.shared_kv;
    }
    sizes.value_dim = model.latent.kv_rank > 0 ? model.latent.value_dim : sizes.head_dim;
    return sizes;
}

LayerParameters count_layer(const ModelSpec& model, LayerKind kind) {
    const std::int64_t matrices = model.gated_mlp ? 3 : 2;
    const AttentionSizes sizes = attention_sizes(model, kind);
    LayerParameters count;
    count.attention = attention_matrices(model, sizes);
    count.vectors = model.norms * norm_width(model);
    if (model.latent.kv_rank > 0) {
        count.vectors += model.latent.q_rank + model.latent.kv_rank;
    }
    if (model.qk_norm) {
        count.vectors +=
            (model.qk_norm_of_heads ? model.heads + sizes.kv_heads : 2) * sizes.head_dim;
    }
    if (model.qkv_bias) {
        count.vectors += model.heads * sizes.head_dim + sizes.kv_projection();
    }
    if (model.out_bias) {
        count.vectors += model.d_model;
    }
    count.vectors += model.sinks ? model.heads : 0;
    if (kind.experts) {
        const Experts& experts = model.experts;
        const std::int64_t expert = matrices * model.d_model * experts.d_ff;
        count.mlp = model.d_model * (experts.count + (experts.shared_gate ? 1 : 0) +
                                     matrices * experts.shared_columns());
        count.experts = experts.count * expert;
        count.experts_taken = experts.per_token * expert;
        count.vectors += experts.router_bias ? experts.count : 0;
        if (model.mlp_bias) {
            const std::int64_t biases = (matrices - 1) * experts.d_ff + model.d_model;
            count.expert_vectors = experts.count * biases;
            count.expert_vectors_taken = experts.per_token * biases;
            count.vectors +=
                (matrices - 1) * experts.shared_columns() + experts.shared * model.d_model;
        }
        return count;
    }
    count.mlp = matrices * model.d_model * model.d_ff;
    if (model.mlp_bias) {
        count.vectors += (matrices - 1) * model.d_ff + model.d_model;
    }
    return count;
}

std::int64_t mtp_matrix(const ModelSpec& model) {
    return 2 * model.d_model * model.d_model;
}

std::int64_t mtp_vectors(const ModelSpec& model) {
    return 2 * norm_width(model);
}

ParameterCount count_parameters(const ModelSpec& model) {
    ParameterCount count;
    std::int64_t not_taken = 0;
    const auto untaken = [](const LayerParameters& layer) {
        return layer.experts - layer.experts_taken + layer.expert_vectors -
               layer.expert_vectors_taken;
    };
    for (const auto& [kind, layers] : layer_kinds(model)) {
        const LayerParameters layer = count_layer(model, kind);
        count.layers += layers * layer.total();
        count.layers_matmul += layers * layer.matmul();
        not_taken += layers * untaken(layer);
    }
    count.embedding = model.vocabulary * model.d_model;
    count.positions = model.positions * model.d_model;
    count.unembedding = model.tied_embeddings ? 0 : count.embedding;
    count.final_norm = norm_width(model) + (model.unembedding_bias ? model.vocabulary : 0);
    if (model.mtp_layers > 0) {
        const LayerParameters layer = count_layer(model, layer_kind(model, model.layers));
        count.mtp = model.mtp_layers * (layer.total() + mtp_matrix(model) + mtp_vectors(model));
        count.mtp_matmul =
            model.mtp_layers * (layer.matmul() + mtp_matrix(model) + count.embedding);
        not_taken += model.mtp_layers * untaken(layer);
    }
    count.total = count.layers + count.embedding + count.positions + count.unembedding +
                  count.final_norm + count.mtp;
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
    flops.matmul =
        6.0 * static_cast<double>(count.layers_matmul + count.embedding + count.mtp_matmul);
    flops.parameters = 6.0 * static_cast<double>(count.active);
    const auto length = static_cast<double>(sequence);
    const auto attend = [&](LayerKind kind, std::int64_t layers) {
        const AttentionSizes sizes = attention_sizes(model, kind);
        const auto widths = static_cast<double>(model.heads * (sizes.head_dim + sizes.value_dim));
        flops.attention += static_cast<double>(layers) * 6 * widths *
                           (attention_pairs(model, kind, length, causal) / length);
    };
    for (const auto& [kind, layers] : layer_kinds(model)) {
        attend(kind, layers);
    }
    attend(layer_kind(model, model.layers), model.mtp_layers);
    return flops;
}

void validate(const ModelSpec& model) {
    sim::InputFaults first;
    validate(model, first);
}

void validate(const ModelSpec& model, sim::InputFaults& faults) {
    check_range(faults, "layers", model.layers, ModelLimits::layers);
    check_range(faults, "d_model", model.d_model, ModelLimits::d_model);
    check_range(faults, "d_ff", model.d_ff, ModelLimits::d_ff);
    check_range(faults, "heads", model.heads, ModelLimits::heads);
    faults.check("model.kv_heads", {"model.kv_heads", "model.heads"},
                 [&] { check_range(faults, "kv_heads", model.kv_heads, model.heads); });
    check_range(faults, "head_dim", model.head_dim, ModelLimits::head_dim);
    check_range(faults, "vocabulary", model.vocabulary, ModelLimits::vocabulary);
    check_range(faults, "norms", model.norms, 4);
    check_range(faults, "chunk", model.chunk, 1LL << 40, 0);
    check_range(faults, "positions", model.positions, ModelLimits::vocabulary, 0);
    check_range(faults, "window", model.window, 1LL << 40, 0);
    check_range(faults, "mtp_layers", model.mtp_layers, ModelLimits::mtp_layers, 0);
    faults.check("model.global_every", {"model.layers"},
                 [&] { check_range(faults, "global_every", model.global_every, model.layers, 0); });
    faults.check("model.kv_heads", {"model.kv_heads", "model.heads"}, [&] {
        if (model.heads % model.kv_heads != 0) {
            throw SettingError("model.kv_heads",
                               fmt::format("kv_heads = {} does not divide heads = {}",
                                           model.kv_heads, model.heads),
                               "every key/value head serves the same number of query heads");
        }
    });
    faults.check("model.global_every", {"model.window", "model.global_every"}, [&] {
        if (model.global_every > 0 && model.window == 0) {
            throw SettingError("model.global_every", "global_every without a window",
                               "give the window of local attention");
        }
    });
    if (model.global != GlobalAttention{}) {
        check_global(model, faults);
    }
    if (model.latent != LatentAttention{}) {
        check_latent(model, faults);
    }
    if (model.experts != Experts{}) {
        check_experts(model, faults);
        faults.check("model.parallel_block", {"model.parallel_block"}, [&] {
            if (model.parallel_block) {
                throw SettingError("model.parallel_block",
                                   "parallel_block beside experts is not modelled",
                                   "leave one of the two out");
            }
        });
    }
}

}  // namespace podsim::workloads
