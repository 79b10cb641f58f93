#include "workloads/work/work.h"

#include "workloads/work/matmul_work.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads {

using namespace vector_unit;

Compute embedding_lookup(const Shard& s) {
    return only({(s.rows * s.d_model + s.tokens * s.block_rows()) * s.precision.compute,
                 s.positions ? s.tokens * s.block_rows() * kEmbedding : 0});
}

Compute embedding_scatter_add(const Shard& s) {
    const double table = s.tied ? 0 : s.vocabulary * s.d_model * s.precision.gradients;
    return only({s.tokens * s.block_rows() * s.precision.compute +
                     2 * s.rows * s.d_model * s.precision.gradients + table,
                 s.tokens * s.block_rows() * kEmbedding});
}

Compute gate_up_forward(const Shard& s, double width, bool normed) {
    return activations(s, s.block_rows(), s.block_columns(s.branches * width),
                       normed ? norm_and_residual(s) : Elementwise{});
}

Compute down_forward(const Shard& s, double width) {
    return activations(s, s.block_columns(width), s.block_rows(),
                       activation_function(s, s.tokens, width));
}

Compute down_input_gradient(const Shard& s, double width) {
    return activations(s, s.block_rows(), s.block_columns(width),
                       activation_gradient(s, s.tokens, width));
}

Compute down_weight_gradient(const Shard& s, double width) {
    return weight_gradient(s, s.block_columns(width), s.block_rows(),
                           activation_again(s, s.tokens, width));
}

Compute gate_up_input_gradient(const Shard& s, double width, bool normed) {
    return activations(s, s.block_columns(s.branches * width), s.block_rows(),
                       normed ? norm_and_residual_gradient(s) : Elementwise{});
}

Compute gate_up_weight_gradient(const Shard& s, double width, bool normed) {
    return weight_gradient(s, s.block_rows(), s.block_columns(s.branches * width),
                           normed ? normed_again(s, s.mlp_norms_again) : Elementwise{});
}

Compute logits_forward(const Shard& s) {
    return activations(s, s.block_rows(), s.block_columns(s.vocabulary), final_norm(s),
                       Runs::in_bf16);
}

Compute loss(const Shard& s) {
    return only(
        {2 * s.tokens * s.vocabulary * s.precision.compute, s.tokens * s.vocabulary * kLoss});
}

Compute logits_input_gradient(const Shard& s) {
    return activations(s, s.block_columns(s.vocabulary), s.block_rows(), final_norm_gradient(s),
                       Runs::in_bf16);
}

Compute logits_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.block_rows(), s.block_columns(s.vocabulary), {}, Runs::in_bf16);
}

Compute optimizer_update(double parameters, Optimizer optimizer, const Precision& precision,
                         double copy_bytes) {
    const bool adam = optimizer == Optimizer::adam;
    const double moments = adam ? 4 * precision.optimizer_moment : 0;
    return only(
        {parameters * (2 * precision.parameters + precision.gradients + moments + copy_bytes),
         parameters * (adam ? kAdam : kSgd)});
}

}  // namespace podsim::workloads
