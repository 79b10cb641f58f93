#include "workloads/program/memory_peak.h"

#include <algorithm>
#include <vector>

namespace podsim::workloads {

MemoryPeak peak_in_program_order(const StepProgram& program) {
    using Held = std::array<sim::Bytes, kMemoryClasses.size()>;
    // change[i]: buffers that begin with operation i minus those that ended with operation i - 1.
    std::vector<Held> change(program.ops.size() + 1);
    for (const Buffer& buffer : program.buffers) {
        const auto place = static_cast<std::size_t>(buffer.memory_class);
        const OpIndex from = buffer.allocated_at == kWholeStep ? 0 : buffer.allocated_at;
        change[from][place] += buffer.bytes;
        if (!buffer.freed_after.empty()) {
            change[*std::ranges::max_element(buffer.freed_after) + 1][place] -= buffer.bytes;
        }
    }
    MemoryPeak peak;
    Held held{};
    for (std::size_t i = 0; i < std::max<std::size_t>(program.ops.size(), 1); ++i) {
        sim::Bytes total;
        for (std::size_t place = 0; place < held.size(); ++place) {
            held[place] += change[i][place];
            total += held[place];
        }
        if (total > peak.total) {
            peak = {total, static_cast<OpIndex>(i), held};
        }
    }
    return peak;
}

BookMemory book_memory(const ModelSpec& model, double parameters, double tokens,
                       double checkpoints_per_layer) {
    constexpr double kParameterBytes = 2;
    constexpr double kAdamBytes = 8;
    constexpr double kActivationBytes = 2;
    return {sim::Bytes(parameters * kParameterBytes), sim::Bytes(parameters * kAdamBytes),
            sim::Bytes(checkpoints_per_layer * tokens * static_cast<double>(model.d_model) *
                       static_cast<double>(model.layers) * kActivationBytes)};
}

}  // namespace podsim::workloads
