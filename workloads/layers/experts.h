// The MLP of a layer with experts: router, routed experts and shared experts; the forward pass.
//
// Forward, per chip (E expert ways, T tensor ways; brackets: only when E > 1 or T > 1):
//   router  [AllGather x] shared gate_up, down [ReduceScatter]          (shared experts, if any)
//   [AllToAll to the experts] [AllGather tokens] experts gate_up, down [ReduceScatter] [AllToAll back]
//   combine
// Each of the r = t / T rows of a chip is copied for each of the k experts that its token takes, with the
// load of ExpertLoad: r k load rows of D leave every chip and, in the case that sets the pace, arrive
// there: V of an AllToAll is E r k load D. Without expert ways tokens stay where they are. Ranks of unequal load l_e (ExpertLoad):
// r k rows leave every chip, r k l_e arrive at rank e, and return from it.
// The router works on the chip's own rows; its matrix (D x experts, some 1e-4 of a layer) counts as split
// over tensor, like norms. The norm of the block's input is the router's.
#pragma once

#include "workloads/layers/mlp.h"

namespace podsim::workloads {

/// What outlives the forward pass.
struct SavedExperts {
    Tensor logits;
    BlockRows rows;  ///< of the router and the shared experts
    SavedMlp shared;
    Tensor tokens;  ///< this chip's share of what its experts work on
    Tensor tokens_gathered;
    SavedMlp routed;
    Tensor output;    ///< what the experts gave, this chip's share, before it goes back
    Tensor returned;  ///< back at the rows: the gradient of the router's weights reads it
};

/// The whole block, scattered: from this chip's rows to what is added to them.
Tensor expert_pass(ForwardParts& parts, Holder& holder, const Tensor& x, SavedExperts& saved);

/// The first matmuls of experts and shared experts once more, with all that they need, from the rows `x`.
void recompute_experts(ForwardParts& parts, const Sources& x, SavedExperts& alive);

/// What the routed experts gave, back at the rows, once more.
void recompute_returned(ForwardParts& parts, SavedExperts& alive);
/// The sum of all experts once more, this chip's rows, over the rows `x`.
Tensor recompute_combined(ForwardParts& parts, const Sources& x, SavedExperts& alive);

/// The shared experts as an MLP.
Mlp shared_mlp(const Shard& shard);

/// Bytes of this chip's share of its experts' tokens: r k load rows.
double token_bytes(const ForwardParts& parts);
/// Bytes of the copies of this chip's rows for their experts.
double copy_bytes(const ForwardParts& parts);
/// Bytes of all tokens of its experts, partial sums over tensor.
double token_sum_bytes(const ForwardParts& parts);
/// Bytes of its experts' complete tokens where tensor parallelism gathers them.
double gathered_token_bytes(const ForwardParts& parts);
/// Bytes of an exchange's buffer: what comes, or what goes where that is more.
double exchanged_bytes(const ForwardParts& parts);
double expert_bytes(const Shard& shard, double width);
/// Holds what the path of experts needs beside these: masks from one operation to another, or rows in another order at each.
void hold_scratch(ForwardParts& parts, OpIndex routed, OpIndex combined);

}  // namespace podsim::workloads
