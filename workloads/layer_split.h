// The backward pass of one layer in two passes: input gradients, which the stage before waits for, and
// weight gradients, whenever there is time.
//
//   input gradients   [AllGather dy] d_down d_gate_up [ReduceScatter dx]
//                     [AllGather dy] d_out [AllGather KV] d_attention [ReduceScatter dKV] d_qkv [ReduceScatter dx]
//   weight gradients  dw_down [AllGather x] dw_gate_up dw_out [AllGather x] dw_qkv
// Between the two stay alive: what the forward pass saved or recomputation brought back, the complete rows of
// both output gradients, and the gradients of the hidden products and of q, k and v. (After the input gradients only
// some of it is needed; what weight gradients read is kept.)
#pragma once

#include <optional>

#include "workloads/layer.h"

namespace podsim::workloads {

class SplitBackward {
public:
    SplitBackward(StepBuilder& builder, LayerKind kind, const LayerBuffers& saved,
                  const Weights& weights);

    /// With the recomputation that the remat policy asks for.
    void input_gradients();
    /// With the reduction. Releases all that was saved.
    void weight_gradients();

private:
    void mlp_gradient();
    void attention_gradient();

    StepBuilder& builder_;
    LayerKind kind_;
    LayerBuffers alive_;
    Weights weights_;
    std::optional<MlpBackward> mlp_;
    std::optional<AttentionBackward> attention_;
    BufferId mlp_rows_ = kNoBuffer;        ///< gradient of the MLP's complete output rows
    BufferId attention_rows_ = kNoBuffer;  ///< of attention's; in a parallel block of both
};

}  // namespace podsim::workloads
