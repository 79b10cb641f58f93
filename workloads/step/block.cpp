#include "workloads/step/block.h"

#include <utility>

namespace podsim::workloads {

Keep saved_by(const Remat& remat, TensorSet read_backward) {
    Keep keep;
    keep.tensors = kept_tensors(remat) & read_backward;
    keep.normed = remat.policy == RematPolicy::none;
    if (remat.policy == RematPolicy::named) {
        keep.offloaded = remat.names.offload & read_backward;
    }
    return keep;
}

Tensor Holder::until(bool kept, double size, OpIndex from, const Sources& made_by,
                     OpIndex last_use) {
    if (kept) {
        return {from, from, made_by, parts_.buffers.hold(keep_.memory_class, size, from)};
    }
    parts_.buffers.hold_between(MemoryClass::buffers, size, from, last_use);
    return {from, from, made_by};
}

Tensor Holder::until(LayerTensor tensor, double size, OpIndex from, const Sources& made_by,
                     OpIndex last_use) {
    if (keep_.offloaded.has(tensor)) {
        return {from, from, made_by,
                parts_.host.offload(to_string(tensor), size, from, made_by, last_use)};
    }
    return until(keep_.tensors.has(tensor), size, from, made_by, last_use);
}

Tensor Holder::saved(bool kept, double size, OpIndex from, const Sources& made_by) {
    return {from, from, made_by,
            kept ? parts_.buffers.hold(keep_.memory_class, size, from) : kNoBuffer};
}

Tensor Holder::saved_output(const Tensor& output) {
    return parts_.shard.outputs_normed && keep_.tensors.has(LayerTensor::output)
               ? until(LayerTensor::output, own_row_bytes(parts_.shard), output.through,
                       output.made_by, output.through)
               : Tensor{};
}

Tensor held(ForwardParts& parts, Tensor tensor, double size) {
    tensor.buffer = parts.buffers.hold(MemoryClass::buffers, size, tensor.from);
    return tensor;
}

double gathered_row_bytes(const ForwardParts& parts) {
    return parts.ways.tensor > 1 ? full_row_bytes(parts.shard) : 0;
}

BlockRows hold_rows(ForwardParts& parts, Holder& holder, const Tensor& own, const Tensor& rows,
                    OpIndex last_use) {
    const Keep& keep = holder.keep();
    // Without tensor parallelism the complete rows are the normed input itself.
    const double complete = keep.normed ? gathered_row_bytes(parts) : full_row_bytes(parts.shard);
    BlockRows held;
    held.normed = holder.saved(keep.normed, own_row_bytes(parts.shard), rows.from, own.made_by);
    held.gathered = holder.until(keep.gathered, complete, rows.from, rows.made_by, last_use);
    return held;
}

}  // namespace podsim::workloads
