// Recomputation of the tensors that a layer's backward pass needs and the forward
// pass did not keep.
//
//   for the MLP's backward pass     out_proj (the norm before the MLP reads it) and mlp_gate_up.
//                                   Without out_proj: attention_out first, and without that
//                                   qkv_proj. mlp_out if its own norm reads it and, with routed
//                                   experts, back at their rows, for the gradient of the router's
//                                   weights
//   for attention's backward pass   qkv_proj and attention_out, if they do not exist by then
// Only missing tensors are made again, with the collectives that they need. Tensors that no
// operation of the backward pass reads (remat.h, read_backward) are not: the output of a plain
// MLP's last matmul, or of that of shared experts. The hidden product and norms of kept outputs are
// fused into weight gradients (work.h). A parallel block has no out_proj: its projections and first
// MLP matmul run again from one gather of its rows. RematPolicy::block instead runs the whole
// forward pass again (recompute_block), as the reference text counts it.
#pragma once

#include "workloads/step/layer.h"

namespace podsim::workloads {

/// Repeats the block's whole forward pass; the tensors that the backward pass needs stay.
SavedLayer recompute_block(ForwardParts& parts, LayerKind kind, const Tensor& input);

void recompute_before_mlp(ForwardParts& parts, LayerKind kind, SavedLayer& alive);
void recompute_before_attention(ForwardParts& parts, LayerKind kind, SavedLayer& alive);

/// Returns the gradient `dy` of a block's normed output. Its norm reads `output`, if that is alive.
Tensor through_norm(Tensor dy, const Tensor& output);
/// Returns the makers of the normed rows of a block's input. If these are not kept, the norm's
/// input makes them again.
Sources source_of(const BlockRows& alive, const Sources& norm_input);
/// Returns the complete rows of a block's input in the backward pass: those alive, or gathered
/// (normed) once more. Their buffer is to be released after their last use.
Tensor complete_rows(ForwardParts& parts, const BlockRows& alive, const Sources& norm_input,
                     std::string_view what);

}  // namespace podsim::workloads
