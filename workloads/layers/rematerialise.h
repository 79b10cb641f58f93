// What the backward pass of a layer needs and the forward pass did not keep, computed once more.
//
//   for the MLP's backward pass     out_proj (the norm before the MLP reads it) and mlp_gate_up. Without out_proj:
//                                   attention_out first, and without that qkv_proj
//   for attention's backward pass   qkv_proj and attention_out, where they are not there by then
// Only what is missing runs again, with the collectives that it needs. The MLP's last matmul never does: nothing
// reads its output. The hidden product and norms of kept outputs are fused into weight gradients (work.h). A parallel
// block has no out_proj: its projections and first MLP matmul run again from one gather of its rows.
// RematPolicy::block instead runs the whole forward pass again (recompute_block), as the reference text counts it.
#pragma once

#include "workloads/layers/layer.h"

namespace podsim::workloads {

void recompute_before_mlp(StepBuilder& builder, LayerKind kind, LayerBuffers& alive);
void recompute_before_attention(StepBuilder& builder, LayerKind kind, LayerBuffers& alive);

}  // namespace podsim::workloads
