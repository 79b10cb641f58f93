#include "workloads/work.h"

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

double activation_function(const Shard& s) {
    return (s.branches + 1) * s.tokens * s.d_ff * s.precision.compute;
}

}  // namespace

Shard make_shard(const ModelSpec& model, const TrainingPlan& plan) {
    const Occupancy load = occupancy(plan);
    Shard shard;
    shard.tokens = load.tokens_per_chip_group;
    shard.rows = shard.tokens / plan.tensor;
    shard.sequences = static_cast<double>(load.sequences_per_shard);
    shard.sequence = static_cast<double>(plan.sequence);
    shard.context = plan.context;
    shard.d_model = static_cast<double>(model.d_model);
    shard.d_ff = static_cast<double>(model.d_ff) / plan.tensor;
    shard.branches = model.gated_mlp ? 2 : 1;
    shard.heads = static_cast<double>(model.heads) / plan.tensor;
    shard.kv_heads = static_cast<double>(model.kv_heads) / plan.tensor;
    shard.head_dim = static_cast<double>(model.head_dim);
    shard.vocabulary = static_cast<double>(model.vocabulary) / plan.tensor;
    shard.causal = plan.causal;
    shard.tied = model.tied_embeddings;
    shard.recomputes_elementwise = plan.remat == Remat::matmuls;
    shard.precision = plan.precision;
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

Compute qkv_forward(const Shard& s) {
    return activations(s, s.d_model, s.qkv_width(), norm_and_residual(s));
}

Compute attention_forward(const Shard& s) {
    const double queries = s.sequence / s.context;
    const double count = s.sequences * s.heads;
    const double full = 4 * s.tokens * s.sequence * s.query_width();
    return {Flops(s.causal ? full / 2 : full),
            {{queries, s.head_dim, s.sequence, count}, {queries, s.sequence, s.head_dim, count}},
            Bytes((2 * s.tokens * s.query_width() + s.kv_elements()) * s.precision.compute)};
}

Compute out_forward(const Shard& s) {
    return activations(s, s.query_width(), s.d_model);
}

Compute gate_up_forward(const Shard& s) {
    return activations(s, s.d_model, s.branches * s.d_ff, norm_and_residual(s));
}

Compute down_forward(const Shard& s) {
    return activations(s, s.d_ff, s.d_model, activation_function(s));
}

Compute down_input_gradient(const Shard& s) {
    // The hidden gradient stays in registers: gate and up are read, their gradients written.
    Compute work = activations(s, s.d_model, s.d_ff);
    work.hbm += Bytes((2 * s.branches - 1) * s.tokens * s.d_ff * s.precision.compute);
    return work;
}

Compute down_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.d_ff, s.d_model,
                           s.recomputes_elementwise ? activation_function(s) : 0);
}

Compute gate_up_input_gradient(const Shard& s) {
    return activations(s, s.branches * s.d_ff, s.d_model, norm_and_residual(s));
}

Compute gate_up_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.d_model, s.branches * s.d_ff, normed_again(s));
}

Compute out_input_gradient(const Shard& s) {
    return activations(s, s.d_model, s.query_width());
}

Compute out_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.query_width(), s.d_model);
}

Compute attention_backward(const Shard& s) {
    // dV = P^T dO, dP = dO V^T, dQ = dP K, dK = dP^T Q; reads q, o, dO, k, v and writes dq, dk, dv.
    const double queries = s.sequence / s.context;
    const double count = s.sequences * s.heads;
    return {attention_forward(s).flops * 2,
            {{s.sequence, queries, s.head_dim, count},
             {queries, s.head_dim, s.sequence, count},
             {queries, s.sequence, s.head_dim, count},
             {s.sequence, queries, s.head_dim, count}},
            Bytes((4 * s.tokens * s.query_width() + 2 * s.kv_elements()) * s.precision.compute)};
}

Compute qkv_input_gradient(const Shard& s) {
    return activations(s, s.qkv_width(), s.d_model, norm_and_residual(s));
}

Compute qkv_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.d_model, s.qkv_width(), normed_again(s));
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
