#include "workloads/models/weights.h"

namespace podsim::workloads {
namespace {

bool of_attention(Matrix matrix) {
    return matrix == Matrix::latent || matrix == Matrix::qkv || matrix == Matrix::out;
}

}  // namespace

std::string_view to_string(Matrix matrix) {
    switch (matrix) {
        case Matrix::latent:
            return "latent";
        case Matrix::qkv:
            return "qkv";
        case Matrix::out:
            return "out";
        case Matrix::router:
            return "router";
        case Matrix::shared_gate_up:
            return "shared gate_up";
        case Matrix::shared_down:
            return "shared down";
        case Matrix::gate_up:
            return "gate_up";
        case Matrix::down:
            return "down";
    }
    return "?";
}

std::string_view to_string(WeightGroups groups) {
    switch (groups) {
        case WeightGroups::layer:
            return "layer";
        case WeightGroups::block:
            return "block";
        case WeightGroups::matmul:
            return "matmul";
    }
    return "?";
}

std::size_t group_of(WeightGroups groups, Matrix matrix) {
    switch (groups) {
        case WeightGroups::layer:
            return 0;
        case WeightGroups::block:
            return of_attention(matrix) ? 0 : 1;
        case WeightGroups::matmul:
            break;
    }
    return static_cast<std::size_t>(matrix);
}

std::string_view name_of_group(WeightGroups groups, std::size_t group) {
    switch (groups) {
        case WeightGroups::layer:
            return "";
        case WeightGroups::block:
            return group == 0 ? "attention" : "mlp";
        case WeightGroups::matmul:
            break;
    }
    return to_string(kMatrices[group]);
}

Weights& Weights::operator+=(const Weights& other) {
    dense += other.dense;
    experts += other.experts;
    return *this;
}

Weights LayerWeights::of_group(WeightGroups groups, std::size_t group) const {
    Weights sum;
    for (const Matrix matrix : kMatrices) {
        if (group_of(groups, matrix) == group) {
            sum += of(matrix);
        }
    }
    return sum;
}

LayerWeights layer_weights(const ModelSpec& model, LayerKind kind) {
    const auto d_model = static_cast<double>(model.d_model);
    const AttentionSizes sizes = attention_sizes(model, kind);
    const auto queries = static_cast<double>(model.heads * sizes.head_dim);
    const auto values = static_cast<double>(model.heads * sizes.value_dim);
    const auto keys_and_values = static_cast<double>(sizes.kv_projection());
    const double branches = model.gated_mlp ? 2 : 1;
    LayerWeights layer;
    const auto dense = [&](Matrix matrix) -> double& {
        return layer.by_matrix[static_cast<std::size_t>(matrix)].dense;
    };
    const auto experts = [&](Matrix matrix) -> double& {
        return layer.by_matrix[static_cast<std::size_t>(matrix)].experts;
    };

    const LatentAttention& latent = model.latent;
    const auto q_rank = static_cast<double>(latent.q_rank);
    const auto kv_rank = static_cast<double>(latent.kv_rank);
    if (latent.kv_rank > 0) {
        const auto rope = static_cast<double>(latent.rope_dim);
        const double heads = queries - static_cast<double>(model.heads) * rope + values;
        dense(Matrix::latent) = d_model * (kv_rank + rope + (latent.q_rank > 0 ? q_rank : queries));
        dense(Matrix::qkv) = q_rank * queries + kv_rank * heads + q_rank + kv_rank;
    } else {
        dense(Matrix::qkv) = d_model * (queries + keys_and_values);
    }
    if (model.qk_norm) {
        dense(Matrix::qkv) += static_cast<double>(
            (model.qk_norm_of_heads ? model.heads + sizes.kv_heads : 2) * sizes.head_dim);
    }
    if (model.qkv_bias) {
        dense(Matrix::qkv) += queries + keys_and_values;
    }
    dense(Matrix::qkv) += static_cast<double>(model.sinks ? model.heads : 0);
    dense(Matrix::out) = values * d_model + (model.out_bias ? d_model : 0);

    if (kind.experts) {
        const auto shared = static_cast<double>(model.experts.shared_columns());
        const auto routed = static_cast<double>(model.experts.count * model.experts.d_ff);
        const auto count = static_cast<double>(model.experts.count);
        const double bias = model.mlp_bias ? 1 : 0;
        dense(Matrix::router) = d_model * (count + (model.experts.shared_gate ? 1 : 0)) +
                                (model.experts.router_bias ? count : 0);
        dense(Matrix::shared_gate_up) = branches * (d_model + bias) * shared;
        dense(Matrix::shared_down) =
            d_model * (shared + bias * static_cast<double>(model.experts.shared));
        experts(Matrix::gate_up) = branches * (d_model + bias) * routed;
        experts(Matrix::down) = d_model * (routed + bias * count);
    } else {
        const auto d_ff = static_cast<double>(model.d_ff);
        dense(Matrix::gate_up) = branches * d_ff * (d_model + (model.mlp_bias ? 1 : 0));
        dense(Matrix::down) = d_ff * d_model + (model.mlp_bias ? d_model : 0);
    }

    const double norms = static_cast<double>(model.norms) * static_cast<double>(norm_width(model));
    const double of_mlp = model.parallel_block ? 0 : norms / 2;
    dense(latent.kv_rank > 0 ? Matrix::latent : Matrix::qkv) += norms - of_mlp;
    dense(kind.experts ? Matrix::router : Matrix::gate_up) += of_mlp;
    return layer;
}

}  // namespace podsim::workloads
