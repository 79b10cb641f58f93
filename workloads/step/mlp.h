// The dense MLP of a layer, or its shared experts, over complete rows in the forward pass.
#pragma once

#include <string>

#include "workloads/step/block.h"

namespace podsim::workloads {

/// Tensors that outlive the forward pass.
struct SavedMlp {
    Tensor gate_up;
    Tensor hidden;
    Tensor hidden_gathered;  ///< over tensor_transpose

    /// Returns the tensor from which the backward pass makes the hidden product.
    [[nodiscard]] const Tensor& hidden_source() const { return hidden.kept() ? hidden : gate_up; }
};

/// One MLP: its operation names, its width and its matrices.
struct Mlp {
    std::string prefix;  ///< of the names of its operations
    double width = 0;    ///< columns of this chip
    bool normed = true;  ///< the norm of its input belongs to it
    /// True if its input's gradient is scattered; false if it is first added to that of a
    /// parallel attention.
    bool scattered = true;
    Matrix gate_up = Matrix::gate_up;
    Matrix down = Matrix::down;
};
/// Returns the MLP of a layer without experts.
Mlp dense_mlp(const Shard& shard);

/// The first matmul. If it runs in segments, `from` is the first of them.
struct GateUp {
    Tensor made;
    OpIndex last_read = 0;  ///< the last operation that reads the rows
};
GateUp mlp_gate_up(ForwardParts& parts, const Mlp& mlp, Arriving& rows);
/// Adds the other matmuls: partial sums over tensor, to which those in `added` are added.
PartialSums mlp_down(ForwardParts& parts, Holder& holder, const Mlp& mlp, const GateUp& gate_up,
                     const Sources& added, SavedMlp& saved);

/// Repeats the first matmul from the complete rows.
void recompute_gate_up(ForwardParts& parts, const Mlp& mlp, Arriving& rows, SavedMlp& alive);
/// Repeats the other matmuls: the partial sums of this chip's rows of the output.
PartialSums recompute_down(ForwardParts& parts, const Mlp& mlp, SavedMlp& alive);
/// Completes the hidden product over tensor_transpose, unless it is alive.
void complete_hidden(ForwardParts& parts, const Mlp& mlp, SavedMlp& alive);

}  // namespace podsim::workloads
