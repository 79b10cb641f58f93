// The dense MLP of a layer, or its shared experts, over complete rows: the forward pass.
#pragma once

#include <string>

#include "workloads/layers/block.h"

namespace podsim::workloads {

/// What outlives the forward pass.
struct SavedMlp {
    Tensor gate_up;
    Tensor hidden;
    Tensor hidden_gathered;  ///< over tensor_transpose

    /// What the backward pass makes the hidden product of.
    [[nodiscard]] const Tensor& hidden_source() const { return hidden.kept() ? hidden : gate_up; }
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
/// That of a layer without experts.
Mlp dense_mlp(const Shard& shard);

/// The first matmul: `from` is its first part where it comes in parts.
struct GateUp {
    Tensor made;
    OpIndex last_read = 0;  ///< the last operation that reads the rows
};
GateUp mlp_gate_up(ForwardParts& parts, const Mlp& mlp, Arriving& rows);
/// The others: partial sums over tensor, to which those in `added` are added.
PartialSums mlp_down(ForwardParts& parts, Holder& holder, const Mlp& mlp, const GateUp& gate_up,
                     const Sources& added, SavedMlp& saved);

/// The first matmul once more, from the complete rows.
void recompute_gate_up(ForwardParts& parts, const Mlp& mlp, Arriving& rows, SavedMlp& alive);
/// The others once more: what this chip's rows of the output are summed up of.
PartialSums recompute_down(ForwardParts& parts, const Mlp& mlp, SavedMlp& alive);
/// The hidden product, complete over tensor_transpose, unless it is alive.
void complete_hidden(ForwardParts& parts, const Mlp& mlp, SavedMlp& alive);

}  // namespace podsim::workloads
