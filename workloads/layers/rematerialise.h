// What the backward pass of a layer needs and the forward pass did not keep, computed once more.
//
//   for the MLP's backward pass     out_proj (the norm before the MLP reads it) and mlp_gate_up. Without out_proj:
//                                   attention_out first, and without that qkv_proj. mlp_out where its own norm reads it, and
//                                   of routed experts, back at their rows, for the gradient of the router's weights
//   for attention's backward pass   qkv_proj and attention_out, where they are not there by then
// Only what is missing runs again, with the collectives that it needs; what no operation of the backward pass reads
// (remat.h, read_backward) does not: a plain MLP's last matmul, that of shared experts. The hidden product and norms of kept outputs are fused into weight gradients (work.h). A parallel
// block has no out_proj: its projections and first MLP matmul run again from one gather of its rows.
// RematPolicy::block instead runs the whole forward pass again (recompute_block), as the reference text counts it.
#pragma once

#include "workloads/layers/layer.h"

namespace podsim::workloads {

/// The block's whole forward pass again; what the backward pass needs stays.
SavedLayer recompute_block(ForwardParts& parts, LayerKind kind, const Tensor& input);

void recompute_before_mlp(ForwardParts& parts, LayerKind kind, SavedLayer& alive);
void recompute_before_attention(ForwardParts& parts, LayerKind kind, SavedLayer& alive);

/// The gradient `dy` of a block's normed output: its norm reads `output`, where it is alive (has one).
Tensor through_norm(Tensor dy, const Tensor& output);
/// What makes the normed rows of a block's input again, where they are not kept: the norm's input.
Sources source_of(const BlockRows& alive, const Sources& norm_input);
/// The complete rows of a block's input in the backward pass: those alive, or gathered (normed) once more.
/// Its buffer is to be released after their last use.
Tensor complete_rows(ForwardParts& parts, const BlockRows& alive, const Sources& norm_input,
                     std::string_view what);

}  // namespace podsim::workloads
