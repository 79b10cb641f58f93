// What the blocks of a layer share: which intermediates a pass keeps, and how they are held.
#pragma once

#include <string_view>

#include "workloads/step_builder.h"

namespace podsim::workloads {

/// What a pass over the layer's forward operations leaves for the backward pass.
struct Keep {
    bool gathered = false;  ///< complete rows, latents, keys and values, experts' tokens
    bool matmuls = false;   ///< matmul outputs
    bool rest = false;      ///< attention's output and the hidden products
    bool normed =
        false;  ///< this chip's rows of the normed inputs, and its share of experts' tokens
    bool output = false;  ///< the layer's last matmul output
    MemoryClass memory_class = MemoryClass::activations;
};
Keep saved_by(Remat remat);
/// The block's forward pass once more: all that the backward pass needs stays.
inline constexpr Keep kRecomputed{true, true, true, false, false, MemoryClass::buffers};

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
    /// Held for the backward pass when kept.
    BufferId saved(bool kept, double size, OpIndex from) {
        return kept ? builder_.hold(keep_.memory_class, size, from) : kNoBuffer;
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
