// The MLP of a layer with experts: router, routed experts and shared experts.
//
// Forward, per chip (E expert ways, T tensor ways; brackets: only when E > 1 or T > 1):
//   router  [AllGather x] shared gate_up, down [ReduceScatter]          (shared experts, if any)
//   [AllToAll to the experts] [AllGather tokens] experts gate_up, down [ReduceScatter] [AllToAll back]
//   combine
// Backward:
//   [AllGather dy] shared ... [ReduceScatter dx] ...
//   combine gradient [AllToAll] [AllGather] d_down dw_down [tokens again: AllToAll, AllGather]
//   d_gate_up [ReduceScatter] [AllToAll] dw_gate_up d_router dw_router
// In two passes (split_backward.h): every AllToAll belongs to the input gradients, also that of the tokens again, which
// weight gradients then find at their experts.
//   input gradients   shared ... combine gradient [AllToAll] [AllGather dy] d_down [tokens again: AllToAll]
//                     d_gate_up [ReduceScatter] [AllToAll] d_router
//   weight gradients  shared ... dw_router dw_down [AllGather tokens] dw_gate_up
// Between the two stay alive: complete dy of the experts' tokens and the gradients of their first matmul, and what the
// weight gradients read of the forward pass: tokens, gate, up and hidden products, logits, the router's rows.
// Each of the r = t / T rows of a chip is copied for each of the k experts that its token takes, with the
// load of ExpertLoad: r k load rows of D leave every chip and, in the case that sets the pace, arrive
// there: V of an AllToAll is E r k load D. Without expert ways tokens stay where they are. Ranks of unequal load l_e (ExpertLoad):
// r k rows leave every chip, r k l_e arrive at rank e, and return from it.
// The router works on the chip's own rows; its matrix (D x experts, some 1e-4 of a layer) counts as split
// over tensor, like norms.
#pragma once

#include <optional>

#include "workloads/layers/mlp.h"

namespace podsim::workloads {

struct ExpertBuffers {
    BufferId logits = kNoBuffer;
    RowBuffers rows;  ///< of the router and the shared experts
    MlpBuffers shared;
    BufferId tokens = kNoBuffer;  ///< this chip's share of what its experts work on
    BufferId tokens_gathered = kNoBuffer;
    MlpBuffers routed;
};

/// The whole block, scattered: returns the operation after which this chip's output rows exist.
OpIndex expert_pass(StepBuilder& builder, Holder& holder, ExpertBuffers& held);

/// The first matmuls of experts and shared experts once more, with all that they need from the layer's rows.
void recompute_experts(StepBuilder& builder, ExpertBuffers& alive);

/// The backward pass. Releases `alive`.
class ExpertBackward {
public:
    ExpertBackward(StepBuilder& builder, const ExpertBuffers& alive)
        : builder_(builder), alive_(alive) {}
    void run();

    /// The same in two passes.
    void input_gradients();
    void weight_gradients();

private:
    void shared();
    void hidden_gradient();
    void down_weights();
    void bring_tokens();
    void complete_tokens();
    void token_gradient();
    void gate_up_weights();
    void router_input();
    OpIndex router_weights();

    StepBuilder& builder_;
    ExpertBuffers alive_;
    std::optional<MlpBackward> shared_;
    OpIndex hidden_ = 0;                    ///< writes the gradient of the experts' first matmul
    OpIndex reduced_ = 0;                   ///< after it the tokens' gradients exist
    BufferId shared_rows_ = kNoBuffer;      ///< complete dy of the shared experts
    BufferId exchanged_ = kNoBuffer;        ///< dy on its way to the experts, and there
    BufferId output_gradient_ = kNoBuffer;  ///< the same gathered over tensor
    BufferId gradient_ = kNoBuffer;         ///< of the experts' first matmul
};

}  // namespace podsim::workloads
