// Intermediates of a layer's blocks in the forward pass: which of them a pass keeps, and
// how they are held.
#pragma once

#include <string_view>

#include "workloads/plan/remat.h"
#include "workloads/step/forward_parts.h"

namespace podsim::workloads {

/// Tensors that a pass over the layer's forward operations leaves for the backward pass.
struct Keep {
    TensorSet tensors;
    TensorSet offloaded;  ///< of these, to the host
    /// Complete rows, latents, keys and values, experts' tokens.
    bool gathered = false;
    /// This chip's rows of the normed inputs, and its fraction of experts' tokens.
    bool normed = false;
    MemoryClass memory_class = MemoryClass::activations;
};
/// Returns the tensors of `read_backward` that the policy names.
Keep saved_by(const Remat& remat, TensorSet read_backward);
/// Repeats the block's forward pass: everything that the backward pass needs stays.
inline constexpr Keep kRecomputed{{LayerTensor::qkv, LayerTensor::attended, LayerTensor::out,
                                   LayerTensor::gate_up, LayerTensor::hidden, LayerTensor::output},
                                  {},
                                  true,
                                  false,
                                  MemoryClass::buffers};

/// Holder of the intermediates of one forward pass. Every function returns the tensor as it is
/// kept: without a buffer if the backward pass will not find it.
class Holder {
public:
    Holder(ForwardParts& parts, const Keep& keep) : parts_(parts), keep_(keep) {}

    /// Holds a tensor for the backward pass if kept, otherwise until its last use in this pass.
    Tensor until(bool kept, double size, OpIndex from, const Sources& made_by, OpIndex last_use);
    /// Holds a tensor that has a name. If it goes to the host, it has the buffer
    /// that it comes back to.
    Tensor until(LayerTensor tensor, double size, OpIndex from, const Sources& made_by,
                 OpIndex last_use);
    /// Holds a tensor for the backward pass if kept.
    Tensor saved(bool kept, double size, OpIndex from, const Sources& made_by);
    /// Holds the output of the layer's last block if a norm reads it and it is kept.
    Tensor saved_output(const Tensor& output);
    [[nodiscard]] const Keep& keep() const { return keep_; }

private:
    ForwardParts& parts_;
    const Keep keep_;
};

/// Returns the tensor in a buffer of its own, from its first operation on.
Tensor held(ForwardParts& parts, Tensor tensor, double size);

/// Input of a block: this chip's normed rows, and the complete rows that tensor
/// parallelism gathers.
struct BlockRows {
    Tensor normed;
    Tensor gathered;
};
/// Holds the normed rows `own`, complete as `rows`.
BlockRows hold_rows(ForwardParts& parts, Holder& holder, const Tensor& own, const Tensor& rows,
                    OpIndex last_use);

/// Returns the bytes of rows that are complete only because they were gathered.
double gathered_row_bytes(const ForwardParts& parts);

/// Returns the bytes of t x width activations.
inline double activation_bytes(const Shard& shard, double width) {
    return shard.tokens * width * shard.precision.compute;
}

}  // namespace podsim::workloads
