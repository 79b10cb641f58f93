// What one chip holds in HBM, from operation to operation.
#pragma once

#include <vector>

#include "workloads/chain/tensor.h"

namespace podsim::workloads {

class HeldBuffers {
public:
    /// Holds bytes (rounded up to whole ones) from the start of `from`. A buffer of no bytes stands for what has no
    /// rows on this chip (experts without tokens).
    BufferId hold(MemoryClass memory_class, double bytes, OpIndex from);
    /// Until this operation has ended, too: a buffer is freed with the last of those.
    void release(BufferId buffer, OpIndex after);
    void hold_between(MemoryClass memory_class, double bytes, OpIndex from, OpIndex to);

    [[nodiscard]] sim::Bytes bytes(BufferId buffer) const { return all_[buffer].bytes; }
    /// The operation that fills a buffer, known only later than that there will be one.
    void fill(BufferId buffer, OpIndex from) { all_[buffer].allocated_at = from; }
    [[nodiscard]] OpIndex filled_by(BufferId buffer) const { return all_[buffer].allocated_at; }

    /// All but those of no bytes.
    std::vector<Buffer> finish();

private:
    std::vector<Buffer> all_;
};

}  // namespace podsim::workloads
