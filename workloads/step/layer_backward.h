// The backward pass of one layer: its recomputation, gradients and their reductions.
//
// The blocks in reverse, per chip (T tensor ways, C context ways; brackets: only
// if T > 1 or C > 1):
//   [AllGather dy] d_down dw_down [AllGather x] d_gate_up [ReduceScatter dx] dw_gate_up
//   [AllGather dy] d_out dw_out [AllGather KV] d_attention [ReduceScatter dKV] [AllGather x] d_qkv
//       [ReduceScatter dx] dw_qkv
// AllGather x (the third gather) and AllGather KV are present only if the tensors that they bring
// are not alive. A parallel block:
//   [AllGather dy] d_down dw_down [AllGather x] d_gate_up dw_gate_up d_out dw_out [AllGather KV]
//       d_attention [ReduceScatter dKV] d_qkv [ReduceScatter dx] dw_qkv
#pragma once

#include "workloads/step/layer.h"
#include "workloads/step/step_parts.h"

namespace podsim::workloads {

/// Returns the gradient of this chip's input rows from that of its output rows. Releases all of
/// `saved`. `remat` is as in layer_forward.
Tensor layer_backward(StepParts& parts, const Remat& remat, LayerKind kind, SavedLayer saved,
                      const Tensor& dy);

}  // namespace podsim::workloads
