// The backward pass of router, routed experts and shared experts.
//
//   [AllGather dy] shared ... [ReduceScatter dx] ...
//   combine gradient [AllToAll] [AllGather] d_down dw_down [tokens again: AllToAll, AllGather]
//   d_gate_up [ReduceScatter] [AllToAll] dw_gate_up d_router dw_router
// In two passes (split_backward.h) every AllToAll belongs to the input gradients, also the repeated
// one of the tokens. Weight gradients then find the tokens at their experts.
//   input gradients   shared ... combine gradient [AllToAll] [AllGather dy] d_down
//                     [tokens again: AllToAll] d_gate_up [ReduceScatter] [AllToAll] d_router
//   weight gradients  shared ... dw_router dw_down [AllGather tokens] dw_gate_up
// Between the two these tensors stay alive: the complete dy of the experts' tokens, the gradients
// of their first matmul, and the forward tensors that the weight gradients read: tokens, gate, up
// and hidden products, logits, the router's rows.
#pragma once

#include <optional>
#include <utility>

#include "workloads/step/experts.h"
#include "workloads/step/mlp_backward.h"

namespace podsim::workloads {

/// Backward pass of a layer's experts, whole by run() or in two passes.
class ExpertBackward {
public:
    /// The router's norm reads `norm_input`.
    ExpertBackward(StepParts& parts, SavedExperts alive, Sources norm_input)
        : parts_(parts), alive_(std::move(alive)), norm_input_(std::move(norm_input)) {}
    /// Returns the gradient of this chip's input rows from that of its output rows.
    Tensor run(const Tensor& dy);

    /// The same in two passes.
    Tensor input_gradients(const Tensor& dy);
    void weight_gradients();

private:
    void shared(const Tensor& dy);
    void hidden_gradient(const Tensor& dy);
    void down_weights();
    void bring_tokens();
    void complete_tokens();
    void token_gradient();
    void gate_up_weights();
    Tensor router_input();
    OpIndex router_weights();

    StepParts& parts_;
    SavedExperts alive_;
    const Sources norm_input_;
    std::optional<MlpBackward> shared_;
    Tensor shared_gradient_;          ///< of the rows, through the shared experts
    Tensor combine_gradient_;         ///< of the experts' output, and of its weights in the sum
    Tensor hidden_;                   ///< of the output of the experts' first matmul
    Tensor token_gradient_;           ///< back at the rows
    OpIndex reduced_ = 0;             ///< the tokens' gradients exist after it
    Tensor shared_rows_;              ///< complete dy of the shared experts
    Tensor output_gradient_;          ///< dy at the experts, complete
    BufferId exchanged_ = kNoBuffer;  ///< dy on its way to the experts, and there
};

}  // namespace podsim::workloads
