#include "workloads/layers/block.h"

namespace podsim::workloads {

Keep saved_by(const TrainingPlan& plan) {
    Keep keep;
    keep.tensors = kept_tensors(plan.remat);
    keep.normed = plan.remat.policy == RematPolicy::none;
    if (plan.remat.policy == RematPolicy::named) {
        keep.offloaded = plan.remat.names.offload;
    }
    return keep;
}

double gathered_row_bytes(const StepBuilder& builder) {
    return builder.plan().ways.tensor > 1 ? builder.full_rows() : 0;
}

RowBuffers hold_rows(StepBuilder& builder, Holder& holder, OpIndex rows, OpIndex last_use) {
    const Keep& keep = holder.keep();
    // Without tensor parallelism the complete rows are the normed input itself.
    const double complete = keep.normed ? gathered_row_bytes(builder) : builder.full_rows();
    RowBuffers held;
    held.normed = holder.saved(keep.normed, builder.local_rows(), rows);
    held.gathered = holder.until(keep.gathered, complete, rows, last_use);
    return held;
}

BufferId complete_rows(StepBuilder& builder, const RowBuffers& alive, std::string_view what) {
    const bool normed_is_complete = builder.plan().ways.tensor == 1 && alive.normed != kNoBuffer;
    if (alive.gathered != kNoBuffer || normed_is_complete) {
        return alive.gathered;
    }
    return builder.hold(MemoryClass::buffers, builder.full_rows(), builder.gather_rows_ahead(what));
}

}  // namespace podsim::workloads
