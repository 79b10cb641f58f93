// The MLP of a layer with experts in the forward pass: router, routed experts and shared experts.
//
// Forward, per chip (E expert ways, T tensor ways; brackets: only if E > 1 or T > 1):
//   router  [AllGather x] shared gate_up, down [ReduceScatter]          (shared experts, if any)
//   [AllToAll to the experts] [AllGather tokens] experts gate_up, down [ReduceScatter]
//   [AllToAll back]
//   combine
// Each of the r = t / T rows of a chip is copied for each of the k experts that its token takes,
// with the load of ExpertLoad. In the case that sets the pace, r k load rows of D leave every
// chip and as many arrive: V of an AllToAll is E r k load D. Without expert ways tokens stay on
// their chip. With ranks of unequal load l_e (ExpertLoad), r k rows leave every chip, r k l_e
// arrive at rank e, and return from it. The router works on the chip's own rows; its matrix
// (D x experts, about 1e-4 of a layer) counts as split over tensor, like norms. The norm of the
// block's input is the router's.
#pragma once

#include "workloads/step/mlp.h"

namespace podsim::workloads {

/// Tensors that outlive the forward pass.
struct SavedExperts {
    Tensor logits;
    BlockRows rows;  ///< of the router and the shared experts
    SavedMlp shared;
    Tensor tokens;  ///< this chip's fraction of its experts' tokens
    Tensor tokens_gathered;
    SavedMlp routed;
    /// Output of the experts, this chip's fraction, before it goes back.
    Tensor output;
    /// The output back at the rows; the gradient of the router's weights reads it.
    Tensor returned;
};

/// Runs the whole block, scattered: from this chip's rows to the sum that is added to them.
Tensor expert_pass(ForwardParts& parts, Holder& holder, const Tensor& x, SavedExperts& saved);

/// Repeats the first matmuls of experts and shared experts, with all that they need,
/// from the rows `x`.
void recompute_experts(ForwardParts& parts, const Sources& x, SavedExperts& alive);

/// Repeats the output of the routed experts, back at the rows.
void recompute_returned(ForwardParts& parts, SavedExperts& alive);
/// Repeats the sum of all experts for this chip's rows, over the rows `x`.
Tensor recompute_combined(ForwardParts& parts, const Sources& x, SavedExperts& alive);

/// Returns the shared experts as an MLP.
Mlp shared_mlp(const Shard& shard);

/// Returns the bytes of this chip's fraction of its experts' tokens: r k load rows.
double token_bytes(const ForwardParts& parts);
/// Returns the bytes of the copies of this chip's rows for their experts.
double copy_bytes(const ForwardParts& parts);
/// Returns the bytes of all tokens of its experts, partial sums over tensor.
double token_sum_bytes(const ForwardParts& parts);
/// Returns the bytes of its experts' complete tokens if tensor parallelism gathers them.
double gathered_token_bytes(const ForwardParts& parts);
/// Returns the bytes of an exchange's buffer: the larger of the tokens that arrive
/// and those that leave.
double exchanged_bytes(const ForwardParts& parts);
double expert_bytes(const Shard& shard, double width);
/// Holds the additional arrays of the experts' path: masks from one operation to another, or rows
/// in another order at each.
void hold_scratch(ForwardParts& parts, OpIndex routed, OpIndex combined);

}  // namespace podsim::workloads
