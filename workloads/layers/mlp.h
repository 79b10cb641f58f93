// The dense MLP of a layer, or its shared experts: forward and backward over complete rows.
#pragma once

#include <string>
#include <utility>

#include "workloads/layers/block.h"

namespace podsim::workloads {

struct MlpBuffers {
    BufferId gate_up = kNoBuffer;
    BufferId hidden = kNoBuffer;
    BufferId hidden_gathered = kNoBuffer;  ///< over tensor_transpose
};

struct Mlp {
    std::string prefix;  ///< of the names of its operations
    double width = 0;    ///< columns of this chip
    bool normed = true;  ///< the norm of its input belongs to it
    /// Its input's gradient is scattered, not added to that of a parallel attention first.
    bool scattered = true;
    Matrix gate_up = Matrix::gate_up;
    Matrix down = Matrix::down;
};

/// The first matmul, and the others.
Parts mlp_gate_up(StepBuilder& builder, const Mlp& mlp);
BlockOps mlp_down(StepBuilder& builder, Holder& holder, const Mlp& mlp, const Parts& gate_up,
                  MlpBuffers& held);
inline BlockOps mlp_pass(StepBuilder& builder, Holder& holder, const Mlp& mlp, MlpBuffers& held) {
    return mlp_down(builder, holder, mlp, mlp_gate_up(builder, mlp), held);
}

/// The first matmul once more, from the complete rows.
void recompute_gate_up(StepBuilder& builder, const Mlp& mlp, MlpBuffers& alive);

class MlpBackward {
public:
    MlpBackward(StepBuilder& builder, Mlp mlp, const MlpBuffers& alive)
        : builder_(builder), mlp_(std::move(mlp)), alive_(alive) {}

    /// From the gradient of the complete output rows to the hidden one. Returns the last operation that
    /// reads the output's gradient.
    OpIndex output() {
        hidden_gradient();
        return down_weights();
    }
    /// The gradient of the normed input (partial sums over tensor); the operation that writes it.
    OpIndex input();
    /// The weight gradient that needs the complete rows of the input.
    OpIndex weights();

    /// The parts of output().
    void hidden_gradient();
    OpIndex down_weights();

private:
    StepBuilder& builder_;
    const Mlp mlp_;
    MlpBuffers alive_;
    BufferId gradient_ = kNoBuffer;
    BufferId gradient_gathered_ = kNoBuffer;  ///< over tensor_transpose
};

}  // namespace podsim::workloads
