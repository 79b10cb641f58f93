// One decoder layer of a step in the forward pass.
//
// Per chip (T tensor ways, C context ways; brackets: only if T > 1 or C > 1):
//   [AllGather x] qkv [AllGather KV] attention out [ReduceScatter]        the attention block
//   [AllGather x] gate_up down [ReduceScatter]                            the MLP block
// attention.h has latent attention and keys and values split by columns, experts.h the MLP block of
// a layer with experts. A parallel block gathers and scatters once for both:
//   [AllGather x] qkv [AllGather KV] attention out gate_up down [ReduceScatter]
//
// Remat policies, and the tensors of a layer that each saves from the forward to the backward pass
// (elements a chip):
//   full     the layer's input, r D. Whatever else the backward pass reads is made again before it
//            (rematerialise.h).
//   block    the same. The whole forward pass runs again before the backward pass, collectives
//            included (8 N D FLOPs a step instead of 6 N D).
//   matmuls  the input and the matmul outputs that the backward pass reads: q, k, v:
//            t (N + 2 K) H / T; o: r D (not in a parallel block); gate, up: g t F / T; down: r D
//            only if a norm follows. With experts also the router's, gate, up of t k load tokens
//            and of the shared experts, down of t k load / T tokens; with latent attention its
//            latents. Attention and its KV gather run again just before the attention block's
//            backward pass; norms and activation functions again, fused.
//   none     those of matmuls, attention's output t N H / T, the hidden product t F / T, and both
//            normed inputs, r D each (one in a parallel block); the experts' tokens, and their
//            output back at the rows. Only gathers run again.
// Everything else is transient: gathered rows and KV, partial sums, and in the backward pass
// gradients of activations and all recomputed tensors (class `buffers`).
#pragma once

#include "workloads/step/attention.h"
#include "workloads/step/experts.h"
#include "workloads/step/mlp.h"

namespace podsim::workloads {

/// Tensors of one layer that outlive its forward pass.
struct SavedLayer {
    Tensor input;
    BlockRows attention_rows;  ///< in a parallel block those of the MLP too
    SavedAttention attention;
    Tensor middle;  ///< between the blocks: the output projection
    BlockRows mlp_rows;
    SavedMlp mlp;
    SavedExperts experts;
    Tensor output;

    /// Returns the residual stream between the blocks, which the norm before the MLP reads.
    [[nodiscard]] Sources mlp_input() const { return made_by(input, middle); }
};
/// Makes the transfers that bring tensors back from the host their makers from here on.
void bring_back(const ForwardParts& parts, SavedLayer& saved);

/// Result of a layer's forward pass.
struct LayerForward {
    SavedLayer saved;
    Tensor output;  ///< this chip's rows
};
/// Runs the layer's forward pass over this chip's rows `x`. `remat` decides which tensors stay for
/// the backward pass: it is the plan's or, for a layer outside the loop of layers, none.
LayerForward layer_forward(ForwardParts& parts, const Remat& remat, LayerKind kind,
                           const Tensor& x);
/// The same with a choice of the tensors that stay, without the layer's input.
LayerForward layer_pass(ForwardParts& parts, const Keep& keep, LayerKind kind, const Tensor& x);

}  // namespace podsim::workloads
