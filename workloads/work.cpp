#include "workloads/work.h"

#include <algorithm>
#include <cmath>

namespace podsim::workloads {
namespace {

using sim::Bytes;
using sim::Flops;

/// One matmul with its operands read and its result written once.
Compute matmul(double m, double k, double n, double operand_bytes, double result_bytes,
               double elementwise_bytes = 0) {
    return {Flops(2 * m * k * n),
            {{m, k, n, 1}},
            Bytes((m * k + k * n) * operand_bytes + m * n * result_bytes + elementwise_bytes)};
}

Compute activations(const Shard& s, double k, double n, double elementwise_bytes = 0) {
    return matmul(s.tokens, k, n, s.precision.compute, s.precision.compute, elementwise_bytes);
}

/// dW = X^T dY: k x n, summed over the tokens.
Compute weight_gradient(const Shard& s, double k, double n, double elementwise_bytes = 0) {
    return matmul(k, s.tokens, n, s.precision.compute, s.precision.gradients, elementwise_bytes);
}

Compute traffic(double bytes) {
    return {Flops(0), {}, Bytes(bytes)};
}

double norm_and_residual(const Shard& s) {
    return 4 * s.rows * s.d_model * s.precision.compute;
}

double normed_again(const Shard& s) {
    return s.recomputes_elementwise ? 2 * s.rows * s.d_model * s.precision.compute : 0;
}

double activation_function(const Shard& s, double tokens, double width) {
    return (s.branches + 1) * tokens * width * s.precision.compute;
}

/// The work of two matmuls in one operation.
Compute both(Compute a, const Compute& b) {
    a.flops += b.flops;
    a.hbm += b.hbm;
    a.matmuls.insert(a.matmuls.end(), b.matmuls.begin(), b.matmuls.end());
    return a;
}

/// A matmul k x n of every expert of this chip with its share of the tokens.
Compute grouped(const Shard& s, double k, double n, double elementwise_bytes = 0) {
    const double tokens = s.experts.tokens;
    const double held = s.experts.held;
    return {Flops(2 * tokens * k * n),
            {{tokens / held, k, n, held}},
            Bytes((tokens * (k + n) + held * k * n) * s.precision.compute + elementwise_bytes)};
}

Compute grouped_weight_gradient(const Shard& s, double k, double n, double elementwise_bytes = 0) {
    const double tokens = s.experts.tokens;
    const double held = s.experts.held;
    return {Flops(2 * tokens * k * n),
            {{k, tokens / held, n, held}},
            Bytes(tokens * (k + n) * s.precision.compute + held * k * n * s.precision.gradients +
                  elementwise_bytes)};
}

/// Rows read once and their copies for experts written, or the copies read and their sums written.
double copied_rows(const Shard& s) {
    return (s.rows + s.experts.tokens * s.rows / s.tokens) * s.d_model * s.precision.compute;
}

/// Pairs of query and key of one head of this chip's sequences; with a window and zig-zag placement, of
/// the chip that has the most.
double attention_pairs_of_chip(const Shard& s, bool local) {
    const double seen = local && s.window > 0 ? std::min(s.window, s.sequence) : s.sequence;
    if (!s.causal) {
        return s.sequences * s.sequence * seen / s.context;
    }
    if (seen == s.sequence || s.context == 1) {
        return s.sequences * (s.sequence * seen - seen * seen / 2) / s.context;
    }
    // Queries before x have, together, this many keys.
    const auto before = [&](double x) {
        return x < seen ? x * x / 2 : seen * seen / 2 + (x - seen) * seen;
    };
    const double piece = s.sequence / (2 * s.context);
    const auto piece_pairs = [&](double i) { return before((i + 1) * piece) - before(i * piece); };
    double most = 0;
    for (double chip = 0; chip < s.context; ++chip) {
        most = std::max(most, piece_pairs(chip) + piece_pairs(2 * s.context - 1 - chip));
    }
    return s.sequences * most;
}

/// Elements of the keys and values that attention reads: of the heads that its query heads use.
double kv_read(const Shard& s) {
    const double heads = s.kv_split_by_columns ? std::ceil(s.kv_heads) : s.kv_heads;
    return s.tokens * s.context * heads * (s.head_dim + s.value_dim);
}

/// Columns of the up projection of keys and values: the rope columns of a key are no head's own.
double kv_up_columns(const Shard& s) {
    return s.heads * (s.head_dim - s.latent.rope_dim + s.value_dim);
}

}  // namespace

Shard make_shard(const ModelSpec& model, const TrainingPlan& plan) {
    const Occupancy batch = occupancy(plan);
    Shard shard;
    shard.tokens = batch.tokens_per_chip_group;
    shard.rows = shard.tokens / plan.tensor;
    shard.sequences = static_cast<double>(batch.sequences_per_shard);
    shard.sequence = static_cast<double>(plan.sequence);
    shard.context = plan.context;
    shard.d_model = static_cast<double>(model.d_model);
    shard.d_ff = static_cast<double>(model.d_ff) / plan.tensor;
    shard.branches = model.gated_mlp ? 2 : 1;
    shard.heads = static_cast<double>(model.heads) / plan.tensor;
    shard.kv_heads = static_cast<double>(model.kv_heads) / plan.tensor;
    shard.all_kv_heads = static_cast<double>(model.kv_heads);
    shard.kv_split_by_columns = model.kv_heads % plan.tensor != 0;
    shard.head_dim = static_cast<double>(model.head_dim);
    shard.value_dim = static_cast<double>(value_dim(model));
    shard.vocabulary = static_cast<double>(model.vocabulary) / plan.tensor;
    shard.window = static_cast<double>(model.window);
    shard.parallel_block = model.parallel_block;
    shard.causal = plan.causal;
    shard.tied = model.tied_embeddings;
    shard.recomputes_elementwise = plan.remat == Remat::matmuls;
    shard.precision = plan.precision;
    if (model.latent.kv_rank > 0) {
        shard.latent.ways = plan.tensor;
        shard.latent.q_rank = static_cast<double>(model.latent.q_rank);
        shard.latent.kv_rank = static_cast<double>(model.latent.kv_rank);
        shard.latent.rope_dim = static_cast<double>(model.latent.rope_dim);
        shard.latent.width = shard.latent.q_rank + shard.latent.kv_rank + shard.latent.rope_dim;
        shard.latent.direct = model.latent.q_rank > 0 ? 0 : shard.heads * shard.head_dim;
    }
    if (model.experts.count > 0) {
        const double load = plan.capacity_factor * (plan.expert > 1 ? plan.expert_imbalance : 1);
        shard.experts.routed = static_cast<double>(model.experts.count);
        shard.experts.held = shard.experts.routed / plan.expert;
        shard.experts.tokens = shard.tokens * static_cast<double>(model.experts.per_token) * load;
        shard.experts.d_ff = static_cast<double>(model.experts.d_ff) / plan.tensor;
        shard.experts.shared_width = static_cast<double>(model.experts.shared) * shard.experts.d_ff;
    }
    return shard;
}

Compute embedding_lookup(const Shard& s) {
    return traffic((s.rows + s.tokens) * s.d_model * s.precision.compute);
}

Compute embedding_scatter_add(const Shard& s) {
    const double table = s.tied ? 0 : s.vocabulary * s.d_model * s.precision.gradients;
    return traffic(s.tokens * s.d_model * s.precision.compute +
                   2 * s.rows * s.d_model * s.precision.gradients + table);
}

Compute latent_forward(const Shard& s) {
    return activations(s, s.d_model, s.latent.columns(), norm_and_residual(s));
}

Compute latent_input_gradient(const Shard& s) {
    return activations(s, s.latent.columns(), s.d_model, norm_and_residual(s));
}

Compute latent_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.d_model, s.latent.columns(), normed_again(s));
}

Compute qkv_forward(const Shard& s) {
    if (s.latent.width == 0) {
        return activations(s, s.d_model, s.qkv_width(), norm_and_residual(s));
    }
    const Compute keys = activations(s, s.latent.kv_rank, kv_up_columns(s));
    return s.latent.q_rank == 0 ? keys
                                : both(activations(s, s.latent.q_rank, s.heads * s.head_dim), keys);
}

Compute qkv_input_gradient(const Shard& s) {
    if (s.latent.width == 0) {
        return activations(s, s.qkv_width(), s.d_model, norm_and_residual(s));
    }
    const Compute keys = activations(s, kv_up_columns(s), s.latent.kv_rank);
    return s.latent.q_rank == 0 ? keys
                                : both(activations(s, s.heads * s.head_dim, s.latent.q_rank), keys);
}

Compute qkv_weight_gradient(const Shard& s) {
    if (s.latent.width == 0) {
        return weight_gradient(s, s.d_model, s.qkv_width(), normed_again(s));
    }
    const Compute keys = weight_gradient(s, s.latent.kv_rank, kv_up_columns(s));
    return s.latent.q_rank == 0
               ? keys
               : both(weight_gradient(s, s.latent.q_rank, s.heads * s.head_dim), keys);
}

Compute attention_forward(const Shard& s, bool local) {
    const double queries = s.sequence / s.context;
    const double count = s.sequences * s.heads;
    const double seen = local && s.window > 0 ? std::min(s.window, s.sequence) : s.sequence;
    return {Flops(2 * (s.head_dim + s.value_dim) * s.heads * attention_pairs_of_chip(s, local)),
            {{queries, s.head_dim, seen, count}, {queries, seen, s.value_dim, count}},
            Bytes((s.tokens * s.heads * (s.head_dim + s.value_dim) + kv_read(s)) *
                  s.precision.compute)};
}

Compute attention_backward(const Shard& s, bool local) {
    // dV = P^T dO, dP = dO V^T, dQ = dP K, dK = dP^T Q; reads q, o, dO, k, v and writes dq, dk, dv.
    const double queries = s.sequence / s.context;
    const double count = s.sequences * s.heads;
    const double seen = local && s.window > 0 ? std::min(s.window, s.sequence) : s.sequence;
    return {attention_forward(s, local).flops * 2,
            {{seen, queries, s.value_dim, count},
             {queries, s.value_dim, seen, count},
             {queries, seen, s.head_dim, count},
             {seen, queries, s.head_dim, count}},
            Bytes((2 * s.tokens * s.heads * (s.head_dim + s.value_dim) + 2 * kv_read(s)) *
                  s.precision.compute)};
}

Compute out_forward(const Shard& s) {
    return activations(s, s.attended_width(), s.d_model);
}

Compute out_input_gradient(const Shard& s) {
    return activations(s, s.d_model, s.attended_width());
}

Compute out_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.attended_width(), s.d_model);
}

Compute gate_up_forward(const Shard& s, double width, bool normed) {
    return activations(s, s.d_model, s.branches * width, normed ? norm_and_residual(s) : 0);
}

Compute down_forward(const Shard& s, double width) {
    return activations(s, width, s.d_model, activation_function(s, s.tokens, width));
}

Compute down_input_gradient(const Shard& s, double width) {
    // The hidden gradient stays in registers: gate and up are read, their gradients written.
    Compute work = activations(s, s.d_model, width);
    work.hbm += Bytes((2 * s.branches - 1) * s.tokens * width * s.precision.compute);
    return work;
}

Compute down_weight_gradient(const Shard& s, double width) {
    return weight_gradient(s, width, s.d_model,
                           s.recomputes_elementwise ? activation_function(s, s.tokens, width) : 0);
}

Compute gate_up_input_gradient(const Shard& s, double width, bool normed) {
    return activations(s, s.branches * width, s.d_model, normed ? norm_and_residual(s) : 0);
}

Compute gate_up_weight_gradient(const Shard& s, double width, bool normed) {
    return weight_gradient(s, s.d_model, s.branches * width, normed ? normed_again(s) : 0);
}

Compute router_forward(const Shard& s) {
    return matmul(s.rows, s.d_model, s.experts.routed, s.precision.compute, s.precision.compute,
                  norm_and_residual(s) + copied_rows(s));
}

Compute router_input_gradient(const Shard& s) {
    return matmul(s.rows, s.experts.routed, s.d_model, s.precision.compute, s.precision.compute,
                  norm_and_residual(s) + copied_rows(s));
}

Compute router_weight_gradient(const Shard& s) {
    return matmul(s.d_model, s.rows, s.experts.routed, s.precision.compute, s.precision.gradients,
                  normed_again(s));
}

Compute experts_gate_up_forward(const Shard& s) {
    return grouped(s, s.d_model, s.branches * s.experts.d_ff);
}

Compute experts_down_forward(const Shard& s) {
    return grouped(s, s.experts.d_ff, s.d_model,
                   activation_function(s, s.experts.tokens, s.experts.d_ff));
}

Compute experts_down_input_gradient(const Shard& s) {
    Compute work = grouped(s, s.d_model, s.experts.d_ff);
    work.hbm +=
        Bytes((2 * s.branches - 1) * s.experts.tokens * s.experts.d_ff * s.precision.compute);
    return work;
}

Compute experts_down_weight_gradient(const Shard& s) {
    return grouped_weight_gradient(
        s, s.experts.d_ff, s.d_model,
        s.recomputes_elementwise ? activation_function(s, s.experts.tokens, s.experts.d_ff) : 0);
}

Compute experts_gate_up_input_gradient(const Shard& s) {
    return grouped(s, s.branches * s.experts.d_ff, s.d_model);
}

Compute experts_gate_up_weight_gradient(const Shard& s) {
    return grouped_weight_gradient(s, s.d_model, s.branches * s.experts.d_ff);
}

Compute combine_forward(const Shard& s) {
    return traffic(copied_rows(s));
}

Compute combine_gradient(const Shard& s) {
    return traffic(copied_rows(s));
}

Compute logits_forward(const Shard& s) {
    return activations(s, s.d_model, s.vocabulary, norm_and_residual(s));
}

Compute loss(const Shard& s) {
    return traffic(2 * s.tokens * s.vocabulary * s.precision.compute);
}

Compute logits_input_gradient(const Shard& s) {
    return activations(s, s.vocabulary, s.d_model, norm_and_residual(s));
}

Compute logits_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.d_model, s.vocabulary);
}

Compute optimizer_update(double parameters, Optimizer optimizer, const Precision& precision) {
    const double moments = optimizer == Optimizer::adam ? 4 * precision.optimizer_moment : 0;
    return traffic(parameters * (2 * precision.parameters + precision.gradients + moments));
}

}  // namespace podsim::workloads
