// One decoder layer of a step: its forward pass, its recomputation and its backward pass.
//
// Forward, per chip (T tensor ways, C context ways; brackets: only when T > 1 or C > 1):
//   [AllGather x] qkv [AllGather KV] attention out [ReduceScatter]        the attention block
//   [AllGather x] gate_up down [ReduceScatter]                            the MLP block
// Backward, the blocks in reverse:
//   [AllGather dy] d_down dw_down [AllGather x] d_gate_up [ReduceScatter dx] dw_gate_up
//   [AllGather dy] d_out dw_out [AllGather KV] d_attention [ReduceScatter dKV] [AllGather x] d_qkv
//       [ReduceScatter dx] dw_qkv
// where AllGather x (the third gather) and AllGather KV stand only when what they bring is not
// alive. attention.h has latent attention and keys and values split by columns, experts.h the MLP block of
// a layer with experts.
//
// A parallel block gathers and scatters once for both:
//   [AllGather x] qkv [AllGather KV] attention out gate_up down [ReduceScatter]
//   [AllGather dy] d_down dw_down [AllGather x] d_gate_up dw_gate_up d_out dw_out [AllGather KV]
//       d_attention [ReduceScatter dKV] d_qkv [ReduceScatter dx] dw_qkv
//
// Remat, and what of a layer is saved from the forward to the backward pass (elements a chip):
//   block    the layer's input, r D. The whole forward pass runs again before the backward pass,
//            collectives included (8 N D FLOPs a step instead of 6 N D).
//   matmuls  the input and the seven matmul outputs: q, k, v: t (N + 2 K) H / T; o: r D; gate, up:
//            g t F / T; down: r D; with experts also the router's, and gate, up of t k load tokens and
//            of the shared experts; latent attention: its latents. Attention and its KV gather run again just before the
//            attention block's backward pass; norms and activation functions again, fused.
//   none     those of matmuls, attention's output t N H / T, the hidden product t F / T, and both normed
//            inputs, r D each (one in a parallel block); the experts' tokens. Only gathers run again.
// Everything else is transient: gathered rows and KV, partial sums, and in the backward pass
// gradients of activations and all that was recomputed (class `buffers`).
#pragma once

#include "workloads/layers/attention.h"
#include "workloads/layers/experts.h"
#include "workloads/layers/mlp.h"

namespace podsim::workloads {

/// Buffers of one layer that outlive its forward pass (kNoBuffer: not held).
struct LayerBuffers {
    BufferId input = kNoBuffer;
    RowBuffers attention_rows;  ///< in a parallel block those of the MLP too
    AttentionBuffers attention;
    BufferId middle = kNoBuffer;  ///< between the blocks: the output projection
    RowBuffers mlp_rows;
    MlpBuffers mlp;
    ExpertBuffers experts;
    BufferId output = kNoBuffer;
};

/// The layer's forward pass, from the last operation of the builder's chain.
LayerBuffers layer_forward(StepBuilder& builder, LayerKind kind);

/// The block's whole forward pass again; what the backward pass needs stays.
LayerBuffers recompute_block(StepBuilder& builder, LayerKind kind, BufferId input);

/// The MLP of a layer without experts.
Mlp dense_mlp(const Shard& shard);

/// The layer's recomputation and backward pass, and its gradient reductions. Releases all of
/// `saved`.
void layer_backward(StepBuilder& builder, LayerKind kind, LayerBuffers saved);

}  // namespace podsim::workloads
