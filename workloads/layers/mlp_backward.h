// The backward pass of a dense MLP, or of a layer's shared experts: from the gradient of its complete output rows to that
// of its input, and its weight gradients.
#pragma once

#include <utility>

#include "workloads/builder/step_parts.h"
#include "workloads/layers/mlp.h"

namespace podsim::workloads {

class MlpBackward {
public:
    MlpBackward(StepParts& parts, Mlp mlp, SavedMlp alive)
        : parts_(parts), mlp_(std::move(mlp)), alive_(std::move(alive)) {}

    /// From the gradient of the complete output rows to the hidden one, and the weight gradient between them. Returns the
    /// last operation that reads the output's gradient.
    OpIndex output(Arriving& dy) {
        hidden_gradient(dy);
        return down_weights();
    }
    /// The gradient of the input (partial sums over tensor). A norm that belongs to it reads `norm_input`.
    PartialSums input(const Sources& norm_input);
    /// The weight gradient that needs the complete rows of the input. Returns the last operation.
    OpIndex weights(const Tensor& rows);

    /// The parts of output(). The pass has come to the down matrix by then (ForwardParts::reads).
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
