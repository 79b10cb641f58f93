// The backward pass of one layer's attention.
//
// Latent attention (T > 1): ... d_qkv [ReduceScatter d latents] dw_qkv d_latent. Where keys and values are split by
// columns, their gradients, to which every way's query heads contribute, are reduced and scattered.
#pragma once

#include <utility>

#include "workloads/builder/step_parts.h"
#include "workloads/layers/attention.h"

namespace podsim::workloads {

class AttentionBackward {
public:
    AttentionBackward(StepParts& parts, LayerKind kind, SavedAttention alive)
        : parts_(parts), kind_(kind), alive_(std::move(alive)) {}

    /// From the gradient of the complete output rows through the dot products. Returns the last operation
    /// that reads the output's gradient.
    OpIndex output(Arriving& dy);
    /// The gradient of the normed input (partial sums over tensor); its norm, and what it is added to, are made by
    /// `norm_input`.
    PartialSums input(const Sources& norm_input);
    /// The weight gradient that needs the complete rows of the input. Returns the last operation.
    OpIndex weights(const Tensor& rows);

    /// The parts of output(): the gradient of what was attended, the output's weight gradient, and from
    /// the first through the dot products.
    void output_gradient(Arriving& dy);
    OpIndex output_weights();
    void dot_products();

    /// The parts of input(): gradients through the up projections of latent attention, their weight gradient (neither
    /// without latents), and the input's gradient.
    void up_input();
    void up_weights();
    PartialSums first_input(const Sources& norm_input);

private:
    StepParts& parts_;
    LayerKind kind_;
    SavedAttention alive_;
    Sources output_gradient_;   ///< of the complete output rows
    Tensor attended_gradient_;  ///< of what was attended
    Tensor gradient_;           ///< of q, k and v
    Tensor latent_gradient_;    ///< of this chip's columns of the latents
    Tensor gradient_gathered_;  ///< over tensor_transpose
};

}  // namespace podsim::workloads
