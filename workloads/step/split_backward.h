// The backward pass of one layer in two passes: input gradients, which the previous stage waits
// for, and weight gradients, whenever there is time.
//
//   input gradients   [AllGather dy] d_down d_gate_up [ReduceScatter dx]
//                     [AllGather dy] d_out [AllGather KV] d_attention [ReduceScatter dKV] d_qkv
//                     [ReduceScatter dx]
//   weight gradients  dw_down [AllGather x] dw_gate_up dw_out [AllGather x] dw_qkv
// with experts instead of the MLP as in experts.h, and with latent attention
//   input gradients   ... d_attention [ReduceScatter dKV] d_qkv [ReduceScatter d latents] d_latent
//                     [ReduceScatter dx]
//   weight gradients  ... dw_out [AllGather x] [AllGather latents] dw_qkv dw_latent
// Between the two these tensors stay alive: those that the forward pass saved or recomputation
// brought back, the complete rows of both output gradients, and the gradients of the hidden
// products, of q, k and v and of the latents. (Only those that weight gradients read are kept after
// the input gradients.) Every matmul Y = X W has its dX in the first pass and its dW in the second,
// of 2 m k n FLOPs each.
#pragma once

#include <optional>

#include "workloads/step/attention_backward.h"
#include "workloads/step/experts_backward.h"
#include "workloads/step/layer.h"
#include "workloads/step/mlp_backward.h"

namespace podsim::workloads {

/// Backward pass of one layer in two passes.
class SplitBackward {
public:
    SplitBackward(StepParts& parts, LayerKind kind, SavedLayer saved);

    /// Returns the gradient of this chip's input rows from that of its output rows, with the
    /// recomputation of the remat policy.
    Tensor input_gradients(const Tensor& dy);
    /// Computes and reduces the weight gradients. Releases all saved tensors.
    void weight_gradients();

private:
    /// Goes from the gradient of the output rows through the block of the MLP or the experts.
    Tensor block_gradient(const Tensor& dy);
    Tensor parallel_gradient(const Tensor& dy);
    PartialSums mlp_gradient(Arriving& dy);
    PartialSums attention_gradient(Arriving& dy, const Sources& input);
    Tensor block_weights();

    StepParts& parts_;
    LayerKind kind_;
    SavedLayer alive_;
    std::optional<MlpBackward> mlp_;
    std::optional<ExpertBackward> experts_;
    std::optional<AttentionBackward> attention_;
    BufferId mlp_rows_ = kNoBuffer;        ///< gradient of the MLP's complete output rows
    BufferId attention_rows_ = kNoBuffer;  ///< that of attention's; in a parallel block of both
};

}  // namespace podsim::workloads
