#include "workloads/program/held_buffers.h"

#include <cmath>
#include <utility>

namespace podsim::workloads {

BufferId HeldBuffers::hold(MemoryClass memory_class, double bytes, OpIndex from) {
    all_.push_back({memory_class, sim::Bytes(std::ceil(bytes)), from, {}});
    return static_cast<BufferId>(all_.size() - 1);
}

void HeldBuffers::release(BufferId buffer, OpIndex after) {
    if (buffer != kNoBuffer) {
        all_[buffer].freed_after.push_back(after);
    }
}

void HeldBuffers::hold_between(MemoryClass memory_class, double bytes, OpIndex from, OpIndex to) {
    release(hold(memory_class, bytes, from), to);
}

std::vector<Buffer> HeldBuffers::finish() {
    std::erase_if(all_, [](const Buffer& buffer) { return buffer.bytes.value() == 0; });
    return std::move(all_);
}

}  // namespace podsim::workloads
