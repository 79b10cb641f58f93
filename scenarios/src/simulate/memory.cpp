#include "scenarios/src/simulate/memory.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "workloads/program/memory_peak.h"

namespace podsim::scenarios {

std::string_view to_string(MemoryFit fit, bool stressed) {
    switch (fit) {
        case MemoryFit::fits:
            return "fits";
        case MemoryFit::tight:
            return "tight";
        case MemoryFit::does_not_fit:
            break;
    }
    return stressed ? "does NOT fit" : "does not fit";
}

std::vector<MemoryChange> memory_changes(const workloads::StepProgram& program,
                                         const ChipRun& chip) {
    std::vector<MemoryChange> changes;
    for (const workloads::Buffer& buffer : program.buffers) {
        const auto memory_class = static_cast<std::size_t>(buffer.memory_class);
        const auto start = [&](workloads::OpIndex op) {
            const auto* handover = std::get_if<workloads::Handover>(&program.ops[op].work);
            return handover != nullptr && !handover->sends ? chip.sent[op] : chip.began[op];
        };
        const sim::Time from =
            buffer.allocated_at == workloads::kWholeStep ? sim::Time{} : start(buffer.allocated_at);
        changes.push_back({from, buffer.bytes.value(), memory_class});
        if (!buffer.freed_after.empty()) {
            sim::Time until;
            for (const workloads::OpIndex op : buffer.freed_after) {
                until = std::max(until, chip.ended[op]);
            }
            changes.push_back({until, -buffer.bytes.value(), memory_class});
        }
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const MemoryChange& a, const MemoryChange& b) {
                         return a.at != b.at ? a.at < b.at : a.bytes < 0 && b.bytes >= 0;
                     });
    return changes;
}

MemoryUse account_memory(const workloads::StepProgram& program, const ChipRun& chip,
                         sim::Bytes capacity) {
    MemoryUse use;
    use.capacity = capacity;
    std::array<double, workloads::kMemoryClasses.size()> held{};
    std::array<double, workloads::kMemoryClasses.size()> at_peak{};
    double total = 0;
    for (const MemoryChange& change : memory_changes(program, chip)) {
        held[change.memory_class] += change.bytes;
        total += change.bytes;
        if (total > use.peak.value()) {
            use.peak = sim::Bytes(total);
            use.peak_at = change.at;
            at_peak = held;
        }
    }
    for (const workloads::MemoryClass memory_class : workloads::kMemoryClasses) {
        use.at_peak.emplace_back(workloads::to_string(memory_class),
                                 at_peak[static_cast<std::size_t>(memory_class)]);
    }
    use.fits = use.peak <= capacity;
    use.tight = std::abs(use.peak / capacity - 1) <= kMemoryBelief;
    return use;
}

}  // namespace podsim::scenarios
