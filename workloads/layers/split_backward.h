// The backward pass of one layer in two passes: input gradients, which the stage before waits for, and
// weight gradients, whenever there is time.
//
//   input gradients   [AllGather dy] d_down d_gate_up [ReduceScatter dx]
//                     [AllGather dy] d_out [AllGather KV] d_attention [ReduceScatter dKV] d_qkv [ReduceScatter dx]
//   weight gradients  dw_down [AllGather x] dw_gate_up dw_out [AllGather x] dw_qkv
// with experts in place of the MLP as in experts.h, and with latent attention
//   input gradients   ... d_attention [ReduceScatter dKV] d_qkv [ReduceScatter d latents] d_latent [ReduceScatter dx]
//   weight gradients  ... dw_out [AllGather x] [AllGather latents] dw_qkv dw_latent
// Between the two stay alive: what the forward pass saved or recomputation brought back, the complete rows of
// both output gradients, and the gradients of the hidden products, of q, k and v and of the latents. (After the input
// gradients only some of it is needed; what weight gradients read is kept.)
// Every matmul Y = X W has its dX in the first pass and its dW in the second, of 2 m k n FLOPs each.
#pragma once

#include <optional>

#include "workloads/layers/layer.h"

namespace podsim::workloads {

class SplitBackward {
public:
    SplitBackward(StepBuilder& builder, LayerKind kind, const LayerBuffers& saved);

    /// With the recomputation that the remat policy asks for.
    void input_gradients();
    /// With the reduction. Releases all that was saved.
    void weight_gradients();

private:
    void block_gradient();
    void mlp_gradient();
    void attention_gradient();
    BufferId block_weights();

    StepBuilder& builder_;
    LayerKind kind_;
    LayerBuffers alive_;
    std::optional<MlpBackward> mlp_;
    std::optional<ExpertBackward> experts_;
    std::optional<AttentionBackward> attention_;
    BufferId mlp_rows_ = kNoBuffer;        ///< gradient of the MLP's complete output rows
    BufferId attention_rows_ = kNoBuffer;  ///< of attention's; in a parallel block of both
};

}  // namespace podsim::workloads
