// What the blocks of a layer share: which intermediates a pass keeps, and how they are held.
#pragma once

#include <string_view>

#include "workloads/builder/step_builder.h"

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
Keep saved_by(const TrainingPlan& plan);
/// The block's forward pass once more: all that the backward pass needs stays.
inline constexpr Keep kRecomputed{{LayerTensor::qkv, LayerTensor::attended, LayerTensor::out,
                                   LayerTensor::gate_up, LayerTensor::hidden},
                                  {},
                                  true,
                                  false,
                                  MemoryClass::buffers};

/// Holds the intermediates of one forward pass.
class Holder {
public:
    Holder(StepBuilder& builder, const Keep& keep) : builder_(builder), keep_(keep) {}

    /// Held on for the backward pass when kept, else until its last use in this pass.
    BufferId until(bool kept, double size, OpIndex from, OpIndex last_use) {
        if (kept) {
            return builder_.hold(keep_.memory_class, size, from);
        }
        builder_.hold_between(MemoryClass::buffers, size, from, last_use);
        return kNoBuffer;
    }
    /// The same of a tensor that has a name; when it goes to the host, the buffer that it comes back to.
    BufferId until(LayerTensor tensor, double size, OpIndex from, OpIndex last_use) {
        return keep_.offloaded.has(tensor)
                   ? builder_.offload(to_string(tensor), size, from, last_use)
                   : until(keep_.tensors.has(tensor), size, from, last_use);
    }
    /// Held for the backward pass when kept.
    BufferId saved(bool kept, double size, OpIndex from) {
        return kept ? builder_.hold(keep_.memory_class, size, from) : kNoBuffer;
    }
    /// The layer's last matmul output, when kept.
    BufferId saved_output(OpIndex from) {
        return keep_.tensors.has(LayerTensor::output)
                   ? until(LayerTensor::output, builder_.local_rows(), from, from)
                   : kNoBuffer;
    }
    [[nodiscard]] const Keep& keep() const { return keep_; }

private:
    StepBuilder& builder_;
    const Keep keep_;
};

/// The operations at the ends of a block's forward pass.
struct BlockOps {
    OpIndex reads = 0;  ///< the last that reads the block's input
    OpIndex out = 0;    ///< writes its output, partial sums over tensor
};

/// A matmul, or its parts.
struct Parts {
    OpIndex first = 0;
    OpIndex last = 0;
};

/// The input of a block: this chip's normed rows, and the complete ones that tensor parallelism gathers.
struct RowBuffers {
    BufferId normed = kNoBuffer;
    BufferId gathered = kNoBuffer;
};
RowBuffers hold_rows(StepBuilder& builder, Holder& holder, OpIndex rows, OpIndex last_use);

/// The complete rows of a block's input in the backward pass: those alive, or gathered (normed) once more.
/// Returns the buffer to release after their last use.
BufferId complete_rows(StepBuilder& builder, const RowBuffers& alive, std::string_view what);

/// Bytes of rows that exist complete only because they were gathered.
double gathered_row_bytes(const StepBuilder& builder);

/// Bytes of t x width activations.
inline double activation_bytes(const Shard& shard, double width) {
    return shard.tokens * width * shard.precision.compute;
}

}  // namespace podsim::workloads
