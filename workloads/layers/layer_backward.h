// The backward pass of one layer: its recomputation, gradients and their reductions.
//
// The blocks in reverse, per chip (T tensor ways, C context ways; brackets: only when T > 1 or C > 1):
//   [AllGather dy] d_down dw_down [AllGather x] d_gate_up [ReduceScatter dx] dw_gate_up
//   [AllGather dy] d_out dw_out [AllGather KV] d_attention [ReduceScatter dKV] [AllGather x] d_qkv
//       [ReduceScatter dx] dw_qkv
// where AllGather x (the third gather) and AllGather KV stand only when what they bring is not alive. A parallel block:
//   [AllGather dy] d_down dw_down [AllGather x] d_gate_up dw_gate_up d_out dw_out [AllGather KV]
//       d_attention [ReduceScatter dKV] d_qkv [ReduceScatter dx] dw_qkv
#pragma once

#include "workloads/builder/step_parts.h"
#include "workloads/layers/layer.h"

namespace podsim::workloads {

/// From the gradient of this chip's output rows to that of its input rows. Releases all of `saved`.
/// `remat` as in layer_forward.
Tensor layer_backward(StepParts& parts, const Remat& remat, LayerKind kind, SavedLayer saved,
                      const Tensor& dy);

}  // namespace podsim::workloads
