// The attention of one layer: projections, dot products and output, forward and backward. The rows that
// it reads, and the sum that it adds to, are the layer's (layer.h).
//
// Latent attention (T > 1): the latent vectors' columns are split over tensor and gathered,
//   latent [AllGather latents] qkv ... ; backward ... d_qkv [ReduceScatter d latents] dw_qkv d_latent
// When tensor does not divide the key/value heads, their columns are split instead and gathered before
// attention; the gradients, to which every way's query heads contribute, are reduced and scattered.
#pragma once

#include "workloads/layers/block.h"

namespace podsim::workloads {

/// Buffers that outlive the forward pass (kNoBuffer: not held).
struct AttentionBuffers {
    BufferId latent = kNoBuffer;
    BufferId latent_gathered = kNoBuffer;
    BufferId qkv = kNoBuffer;
    BufferId kv_gathered = kNoBuffer;
    BufferId attended = kNoBuffer;
    BufferId attended_gathered = kNoBuffer;  ///< over tensor_transpose
};

/// The matrix that reads the rows of the layer.
inline Matrix first_projection(const Shard& shard) {
    return shard.latent.width > 0 ? Matrix::latent : Matrix::qkv;
}

BlockOps attention_pass(StepBuilder& builder, Holder& holder, LayerKind kind,
                        AttentionBuffers& held);

/// The projections of queries, keys and values once more, from the complete rows.
void recompute_projections(StepBuilder& builder, AttentionBuffers& alive);
/// What attention's heads made, complete over tensor_transpose, unless it is alive.
void complete_attended(StepBuilder& builder, AttentionBuffers& alive);
/// Attention's output and complete keys and values once more, from q, k and v.
void recompute_attention(StepBuilder& builder, LayerKind kind, AttentionBuffers& alive);

/// The backward pass of one layer's attention.
class AttentionBackward {
public:
    AttentionBackward(StepBuilder& builder, LayerKind kind, const AttentionBuffers& alive)
        : builder_(builder), kind_(kind), alive_(alive) {}

    /// From the gradient of the complete output rows through the dot products. Returns the last operation
    /// that reads the output's gradient.
    OpIndex output();
    /// The gradient of the normed input (partial sums over tensor); the operation that writes it.
    OpIndex input();
    /// The weight gradient that needs the complete rows of the input.
    OpIndex weights();

    /// The parts of output(): the gradient of what was attended, the output's weight gradient, and from
    /// the first through the dot products.
    OpIndex output_gradient();
    OpIndex output_weights();
    void dot_products(OpIndex output_gradient);

    /// The parts of input(): gradients through the up projections of latent attention, their weight gradient (neither
    /// without latents), and the input's gradient.
    void up_input();
    void up_weights();
    OpIndex first_input();

private:
    StepBuilder& builder_;
    LayerKind kind_;
    AttentionBuffers alive_;
    BufferId gradient_ = kNoBuffer;           ///< of q, k and v
    BufferId latent_gradient_ = kNoBuffer;    ///< of this chip's columns of the latents
    BufferId gradient_gathered_ = kNoBuffer;  ///< over tensor_transpose
};

}  // namespace podsim::workloads
