#include "workloads/work/experts_work.h"

#include "workloads/work/matmul_work.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads {

using namespace vector_unit;

Compute router_forward(const Shard& s) {
    const Elementwise choice{0, s.rows * s.experts.routed * (kSoftmax + s.experts.per_token)};
    return activations(s, s.rows, s.d_model, s.experts.routed,
                       norm_and_residual(s) + copied_rows(s, 0) + choice, Runs::in_bf16);
}

Compute router_input_gradient(const Shard& s) {
    const Elementwise choice{0, s.rows * s.experts.routed * kRouterBackward};
    return activations(s, s.rows, s.experts.routed, s.d_model,
                       norm_and_residual_gradient(s) + copied_rows(s, 1) + choice, Runs::in_bf16);
}

Compute router_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.rows, s.d_model, s.experts.routed,
                           normed_again(s, s.mlp_norms_again), Runs::in_bf16);
}

Compute experts_gate_up_forward(const Shard& s) {
    return grouped(s, s.d_model, s.branches * s.experts.d_ff);
}

Compute experts_down_forward(const Shard& s) {
    return grouped(s, s.experts.d_ff, s.d_model,
                   activation_function(s, s.experts.tokens, s.experts.d_ff));
}

Compute experts_down_input_gradient(const Shard& s) {
    return grouped(s, s.d_model, s.experts.d_ff,
                   activation_gradient(s, s.experts.tokens, s.experts.d_ff));
}

Compute experts_down_weight_gradient(const Shard& s) {
    return grouped_weight_gradient(s, s.experts.d_ff, s.d_model,
                                   activation_again(s, s.experts.tokens, s.experts.d_ff));
}

Compute experts_gate_up_input_gradient(const Shard& s) {
    return grouped(s, s.branches * s.experts.d_ff, s.d_model);
}

Compute experts_gate_up_weight_gradient(const Shard& s) {
    return grouped_weight_gradient(s, s.d_model, s.branches * s.experts.d_ff);
}

Compute combine_forward(const Shard& s) {
    return only(copied_rows(s, kCombine));
}

Compute combine_gradient(const Shard& s) {
    const Elementwise outputs{
        s.experts.copies * s.rows / s.tokens * s.d_model * s.precision.compute, 0};
    return only(copied_rows(s, kCombineBackward) + outputs);
}

}  // namespace podsim::workloads
