// The buffers of one chip in HBM, from operation to operation.
#pragma once

#include <vector>

#include "workloads/program/tensor.h"

namespace podsim::workloads {

class HeldBuffers {
public:
    /// Holds bytes (rounded up to whole ones) from the start of `from`. A buffer of no bytes stands
    /// for a tensor without rows on this chip (experts without tokens).
    BufferId hold(MemoryClass memory_class, double bytes, OpIndex from);
    /// Holds the buffer until this operation has ended, too: it is freed with the last of them.
    void release(BufferId buffer, OpIndex after);
    void hold_between(MemoryClass memory_class, double bytes, OpIndex from, OpIndex to);

    [[nodiscard]] sim::Bytes bytes(BufferId buffer) const { return all_[buffer].bytes; }
    /// Sets the operation that fills a buffer, if it was not known when the buffer was made.
    void fill(BufferId buffer, OpIndex from) { all_[buffer].allocated_at = from; }
    [[nodiscard]] OpIndex filled_by(BufferId buffer) const { return all_[buffer].allocated_at; }

    /// Returns all buffers but those of no bytes.
    std::vector<Buffer> finish();

private:
    std::vector<Buffer> all_;
};

}  // namespace podsim::workloads
