#include "workloads/work/work.h"

#include "workloads/work/matmul_work.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads {

using namespace vector_unit;

namespace {

double operations_of(Optimizer optimizer) {
    switch (optimizer) {
        case Optimizer::adam:
            return kAdam;
        case Optimizer::lion:
            return kLion;
        case Optimizer::adafactor:
            return kAdafactor;
        case Optimizer::sgd:
            return kSgd;
    }
    return 0;
}

/// Adds the bytes of the logits, or of their gradient, to a matmul that reads or writes them once.
Compute with_logits(const Shard& s, Compute work) {
    const double logits = s.tokens * s.block_columns(s.vocabulary);
    work.hbm += sim::Bytes(logits * (s.precision.logits - s.precision.compute));
    return work;
}

}  // namespace

Compute embedding_lookup(const Shard& s) {
    return only({(s.rows * s.d_model + s.tokens * s.block_rows()) * s.precision.compute,
                 s.positions ? s.tokens * s.block_rows() * kEmbedding : 0});
}

Compute embedding_scatter_add(const Shard& s, bool written) {
    const double table = written ? 0 : s.vocabulary * s.d_model * s.precision.gradients;
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
                       activation_gradient(s, s.tokens, width), backward_of(s, Matrix::down));
}

Compute down_weight_gradient(const Shard& s, double width) {
    return weight_gradient(s, s.block_columns(width), s.block_rows(),
                           activation_again(s, s.tokens, width), backward_of(s, Matrix::down));
}

Compute gate_up_input_gradient(const Shard& s, double width, bool normed) {
    return activations(s, s.block_columns(s.branches * width), s.block_rows(),
                       normed ? norm_and_residual_gradient(s) : Elementwise{},
                       backward_of(s, Matrix::gate_up));
}

Compute gate_up_weight_gradient(const Shard& s, double width, bool normed) {
    return weight_gradient(s, s.block_rows(), s.block_columns(s.branches * width),
                           normed ? normed_again(s, s.mlp_norms_again) : Elementwise{},
                           backward_of(s, Matrix::gate_up));
}

Compute logits_forward(const Shard& s) {
    return with_logits(s, activations(s, s.block_rows(), s.block_columns(s.vocabulary),
                                      final_norm(s), Runs::in_bf16));
}

Compute loss(const Shard& s) {
    return only(
        {2 * s.tokens * s.vocabulary * s.precision.logits, s.tokens * s.vocabulary * kLoss});
}

Compute logits_input_gradient(const Shard& s) {
    return with_logits(s, activations(s, s.block_columns(s.vocabulary), s.block_rows(),
                                      final_norm_gradient(s), Runs::in_bf16));
}

Compute logits_weight_gradient(const Shard& s) {
    return with_logits(
        s, weight_gradient(s, s.block_rows(), s.block_columns(s.vocabulary), {}, Runs::in_bf16));
}

Compute optimizer_update(double parameters, Optimizer optimizer, const Precision& precision,
                         double copy_bytes) {
    const double moments = 2 * moments_of(optimizer) * precision.optimizer_moment;
    const bool adafactor = optimizer == Optimizer::adafactor;
    const double reads = adafactor ? 2 * precision.gradients + precision.parameters : 0;
    return only({parameters * (2 * precision.parameters + precision.gradients + moments +
                               copy_bytes + reads),
                 parameters * operations_of(optimizer)});
}

Compute gradient_norm(double parameters, const Precision& precision) {
    return only({parameters * precision.gradients, parameters * kSquareSum});
}

}  // namespace podsim::workloads
