// What the blocks of a layer share in the forward pass: which intermediates a pass keeps, and how they are held.
#pragma once

#include <string_view>

#include "workloads/builder/forward_parts.h"
#include "workloads/plan/remat.h"

namespace podsim::workloads {

/// What a pass over the layer's forward operations leaves for the backward pass.
struct Keep {
    TensorSet tensors;
    TensorSet offloaded;    ///< of these, to the host
    bool gathered = false;  ///< complete rows, latents, keys and values, experts' tokens
    bool normed =
        false;  ///< this chip's rows of the normed inputs, and its share of experts' tokens
    MemoryClass memory_class = MemoryClass::activations;
};
/// Of what the policy names, what `read_backward` has.
Keep saved_by(const Remat& remat, TensorSet read_backward);
/// The block's forward pass once more: all that the backward pass needs stays.
inline constexpr Keep kRecomputed{{LayerTensor::qkv, LayerTensor::attended, LayerTensor::out,
                                   LayerTensor::gate_up, LayerTensor::hidden, LayerTensor::output},
                                  {},
                                  true,
                                  false,
                                  MemoryClass::buffers};

/// Holds the intermediates of one forward pass. Every function returns the tensor as it is kept: without a buffer where
/// the backward pass will not find it.
class Holder {
public:
    Holder(ForwardParts& parts, const Keep& keep) : parts_(parts), keep_(keep) {}

    /// Held on for the backward pass when kept, else until its last use in this pass.
    Tensor until(bool kept, double size, OpIndex from, const Sources& made_by, OpIndex last_use);
    /// A tensor that has a name; when it goes to the host, with the buffer that it comes back to.
    Tensor until(LayerTensor tensor, double size, OpIndex from, const Sources& made_by,
                 OpIndex last_use);
    /// Held for the backward pass when kept.
    Tensor saved(bool kept, double size, OpIndex from, const Sources& made_by);
    /// What the layer's last block puts out, when a norm reads it and it is kept.
    Tensor saved_output(const Tensor& output);
    [[nodiscard]] const Keep& keep() const { return keep_; }

private:
    ForwardParts& parts_;
    const Keep keep_;
};

/// A tensor in a buffer of its own, from its first operation on.
Tensor held(ForwardParts& parts, Tensor tensor, double size);

/// The input of a block: this chip's normed rows, and the complete ones that tensor parallelism gathers.
struct BlockRows {
    Tensor normed;
    Tensor gathered;
};
/// `own` normed rows, complete as `rows`.
BlockRows hold_rows(ForwardParts& parts, Holder& holder, const Tensor& own, const Tensor& rows,
                    OpIndex last_use);

/// Bytes of rows that exist complete only because they were gathered.
double gathered_row_bytes(const ForwardParts& parts);

/// Bytes of t x width activations.
inline double activation_bytes(const Shard& shard, double width) {
    return shard.tokens * width * shard.precision.compute;
}

}  // namespace podsim::workloads
