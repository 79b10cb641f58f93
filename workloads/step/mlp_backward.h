// The backward pass of a dense MLP, or of a layer's shared experts: from the gradient of its
// complete output rows to that of its input, and its weight gradients.
#pragma once

#include <utility>

#include "workloads/step/mlp.h"
#include "workloads/step/step_parts.h"

namespace podsim::workloads {

/// Backward pass of one MLP, whole by output(), input() and weights(), or in smaller steps.
class MlpBackward {
public:
    MlpBackward(StepParts& parts, Mlp mlp, SavedMlp alive)
        : parts_(parts), mlp_(std::move(mlp)), alive_(std::move(alive)) {}

    /// Goes from the gradient of the complete output rows to the hidden one, and computes the
    /// weight gradient between them. Returns the last operation that reads the output's gradient.
    OpIndex output(Arriving& dy) {
        hidden_gradient(dy);
        return down_weights();
    }
    /// Returns the gradient of the input (partial sums over tensor). A norm that belongs to it
    /// reads `norm_input`.
    PartialSums input(const Sources& norm_input);
    /// Computes the weight gradient that needs the complete rows of the input. Returns
    /// the last operation.
    OpIndex weights(const Tensor& rows);

    /// The steps of output(). The pass must have reached the down matrix by then
    /// (ForwardParts::reads).
    void hidden_gradient(Arriving& dy);
    OpIndex down_weights();

private:
    StepParts& parts_;
    const Mlp mlp_;
    SavedMlp alive_;
    Sources output_gradient_;   ///< of the complete rows
    Tensor gradient_;           ///< of the first matmul's output
    Tensor gradient_gathered_;  ///< over tensor_transpose
};

}  // namespace podsim::workloads
