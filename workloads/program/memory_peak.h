// Memory of one chip over a step: the peak in program order, and the reference text's estimate.
#pragma once

#include <array>

#include "sim/base/quantity.h"
#include "workloads/models/model.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Every class, in the order of the enumeration.
inline constexpr std::array<MemoryClass, 7> kMemoryClasses{
    MemoryClass::parameters,  MemoryClass::gradients,        MemoryClass::optimizer,
    MemoryClass::activations, MemoryClass::gathered_weights, MemoryClass::kv_cache,
    MemoryClass::buffers};

struct MemoryPeak {
    sim::Bytes total;
    OpIndex at = 0;  ///< the first operation at the peak
    /// At that operation, by kMemoryClasses.
    std::array<sim::Bytes, kMemoryClasses.size()> by_class{};
    [[nodiscard]] sim::Bytes of(MemoryClass memory_class) const {
        return by_class[static_cast<std::size_t>(memory_class)];
    }
};

/// Returns the peak if operations run one after the other in program order: at operation i a buffer
/// is held if allocated_at <= i <= the last of freed_after. A run in which collectives overlap
/// compute may hold reduced gradients a little longer, never more gathered weights.
MemoryPeak peak_in_program_order(const StepProgram& program);

/// The reference text's estimate of the memory of a whole training run over all chips (How to Scale
/// Your Model, section 6): parameters at 2 B, Adam's state at 8 B, and `checkpoints_per_layer`
/// saved activations of [tokens, D] at 2 B in every layer. Gradients and buffers are left out.
struct BookMemory {
    sim::Bytes parameters;
    sim::Bytes optimizer;
    sim::Bytes checkpoints;
    [[nodiscard]] sim::Bytes total() const { return parameters + optimizer + checkpoints; }
};
BookMemory book_memory(const ModelSpec& model, double parameters, double tokens,
                       double checkpoints_per_layer = 4);

}  // namespace podsim::workloads
