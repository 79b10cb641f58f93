#include "workloads/work/elementwise.h"

#include <algorithm>

#include "workloads/work/vector_work.h"

namespace podsim::workloads {
namespace {

using namespace vector_unit;

double norm(const Shard& s) {
    return s.layer_norm ? kLayerNorm : kNorm;
}

double norm_backward(const Shard& s) {
    return s.layer_norm ? kLayerNormBackward : kNormBackward;
}

double row_elements(const Shard& s) {
    return s.rows * s.d_model;
}

/// Columns of queries and keys that are rotated: the keys' of latent attention are shared by all heads.
double rotated(const Shard& s) {
    if (!s.rotary) {
        return 0;
    }
    const double columns = s.latent.width > 0 ? (s.heads + 1) * s.latent.rope_dim
                                              : (s.heads + s.kv_heads) * s.head_dim;
    return s.tokens * columns;
}

double normed_query_key(const Shard& s) {
    return s.tokens * ((s.qk_norm ? (s.heads + s.kv_heads) * s.head_dim : 0) +
                       (s.v_norm ? s.kv_heads * s.value_dim : 0));
}

/// How often queries and keys go through HBM, read or written: by the kernels that rotate them, and by those that norm them.
struct Passes {
    double rotated = 0;
    double normed = 0;
};
constexpr Passes kForward{5, 2};
constexpr Passes kBackward{7, 3};

/// What fits into a core's VMEM stays there.
Elementwise in_kernels_apart(const Shard& s, const Passes& passes, double operations) {
    const double once = 2 * std::max(rotated(s), normed_query_key(s)) * s.precision.compute;
    const double elements = rotated(s) * passes.rotated + normed_query_key(s) * passes.normed;
    const double bytes = once > s.vmem ? elements * s.precision.compute : 0;
    return {.bytes = bytes, .operations = operations, .apart = bytes};
}

double normed_latents(const Shard& s) {
    return s.tokens * (s.latent.q_rank + s.latent.kv_rank);
}

}  // namespace

Elementwise norm_and_residual(const Shard& s) {
    return {4 * row_elements(s) * s.precision.compute,
            row_elements(s) * (s.norms_of_block * norm(s) + kResidual)};
}

Elementwise norm_and_residual_gradient(const Shard& s) {
    return {4 * row_elements(s) * s.precision.compute,
            row_elements(s) * (s.norms_of_block * norm_backward(s) + kResidual)};
}

Elementwise final_norm(const Shard& s) {
    return {4 * row_elements(s) * s.precision.compute, row_elements(s) * (norm(s) + kResidual)};
}

Elementwise final_norm_gradient(const Shard& s) {
    return {4 * row_elements(s) * s.precision.compute,
            row_elements(s) * (norm_backward(s) + kResidual)};
}

Elementwise normed_again(const Shard& s, bool again) {
    return again ? Elementwise{2 * row_elements(s) * s.precision.compute,
                               row_elements(s) * s.norms_of_block * norm(s)}
                 : Elementwise{};
}

Elementwise activation_function(const Shard& s, double tokens, double width) {
    const double gate = s.branches > 1 ? kGate : 0;
    return {(s.branches + 1) * tokens * width * s.precision.compute,
            tokens * width * (kActivation + gate)};
}

Elementwise activation_gradient(const Shard& s, double tokens, double width) {
    // The hidden gradient stays in registers: gate and up are read, their gradients written.
    const double gate = s.branches > 1 ? kGateBackward : 0;
    return {(2 * s.branches - 1) * tokens * width * s.precision.compute,
            tokens * width * (kActivationBackward + gate)};
}

Elementwise activation_again(const Shard& s, double tokens, double width) {
    return s.activations_again ? activation_function(s, tokens, width) : Elementwise{};
}

Elementwise query_key(const Shard& s) {
    return in_kernels_apart(s, kForward, rotated(s) * kRotary + normed_query_key(s) * kNorm);
}

Elementwise query_key_gradient(const Shard& s) {
    return in_kernels_apart(s, kBackward,
                            rotated(s) * kRotary + normed_query_key(s) * kNormBackward);
}

Elementwise latent_norm(const Shard& s) {
    return {0, normed_latents(s) * kNorm};
}

Elementwise latent_norm_gradient(const Shard& s) {
    return {0, normed_latents(s) * kNormBackward};
}

Elementwise copied_rows(const Shard& s, double operations) {
    const double copies = s.experts.copies * s.rows / s.tokens * s.d_model;
    return {(row_elements(s) + copies) * s.precision.compute, copies * operations};
}

}  // namespace podsim::workloads
