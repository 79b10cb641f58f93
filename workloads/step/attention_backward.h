// The backward pass of one layer's attention.
//
// Latent attention (T > 1): ... d_qkv [ReduceScatter d latents] dw_qkv d_latent. If keys and values
// are split by columns, their gradients, to which the query heads of every tensor rank contribute,
// are reduced and scattered.
#pragma once

#include <utility>

#include "workloads/step/attention.h"
#include "workloads/step/step_parts.h"

namespace podsim::workloads {

/// Backward pass of attention, whole by output(), input() and weights(), or in smaller steps.
class AttentionBackward {
public:
    AttentionBackward(StepParts& parts, LayerKind kind, SavedAttention alive)
        : parts_(parts), kind_(kind), alive_(std::move(alive)) {}

    /// Goes from the gradient of the complete output rows through the dot products. Returns the
    /// last operation that reads the output's gradient.
    OpIndex output(Arriving& dy);
    /// Returns the gradient of the normed input (partial sums over tensor). `norm_input` makes its
    /// norm, and the tensor that it is added to.
    PartialSums input(const Sources& norm_input);
    /// Computes the weight gradient that needs the complete rows of the input. Returns
    /// the last operation.
    OpIndex weights(const Tensor& rows);

    /// The steps of output(): the gradient of attention's output, the weight gradient of the output
    /// projection, and from the first through the dot products.
    void output_gradient(Arriving& dy);
    OpIndex output_weights();
    void dot_products();

    /// The steps of input(): gradients through the up projections of latent attention, their weight
    /// gradient (neither without latents), and the input's gradient.
    void up_input();
    void up_weights();
    PartialSums first_input(const Sources& norm_input);

private:
    StepParts& parts_;
    LayerKind kind_;
    SavedAttention alive_;
    Sources output_gradient_;   ///< of the complete output rows
    Tensor attended_gradient_;  ///< of attention's output
    Tensor gradient_;           ///< of q, k and v
    Tensor latent_gradient_;    ///< of this chip's columns of the latents
    Tensor gradient_gathered_;  ///< over tensor_transpose
};

}  // namespace podsim::workloads
