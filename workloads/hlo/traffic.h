// The HBM bytes that a kernel reads and writes, and the operations of its vector unit.
//
// Bytes are those of arrays in memory, padded to their tiles; arrays in VMEM cost none. If a fusion
// only slices an operand, the slices count; if it updates a result in place, the update counts.
// Gathers and scatters move the rows that they name.
// The vector unit does one operation for each element of floating-point elementwise instructions
// and of reduced operands, and four for transcendental ones (work/vector_work.h). Conversions,
// broadcasts and moves are free, as are whole numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/base/quantity.h"
#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Bytes of the kernels of one module, with a cache for computations that fusions carry out.
class Traffic {
public:
    explicit Traffic(const Module& module) : module_(module) {}

    /// Returns the bytes of an instruction that is a kernel of its own.
    sim::Bytes hbm_of(const Computation& computation, const Instruction& instruction);

private:
    /// A computation's values and the facts that follow from all of them.
    struct Fused {
        std::vector<std::vector<std::uint32_t>> users;
        /// The value behind the views of each.
        std::vector<std::uint32_t> source;
        /// Bytes read of each value, as far as they were asked for.
        std::vector<std::optional<sim::Bytes>> read;
    };
    Fused& fused(const Computation& computation);
    sim::Bytes read_of(const Computation& computation, std::uint32_t number);
    sim::Bytes read_by(const Computation& computation, std::uint32_t number);
    sim::Bytes written_of(const Computation& computation, std::uint32_t number,
                          const Shape& result);
    sim::Bytes of_fusion(const Instruction& instruction, const Computation& computation,
                         const Computation& carried);

    const Module& module_;
    std::map<const Computation*, Fused> known_;
};
/// Returns the operations of an instruction and of those that it carries out.
sim::Flops vector_of(const Module& module, const Computation& computation,
                     const Instruction& instruction);
/// Returns the bytes of the arrays of a shape that are in HBM.
inline sim::Bytes in_hbm(const Shape& shape) {
    return shape.sums.in_hbm;
}

}  // namespace podsim::workloads::hlo
