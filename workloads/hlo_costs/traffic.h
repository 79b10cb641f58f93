// What a kernel reads and writes of HBM, and what its vector unit does.
//
// Bytes are those that arrays take in memory, padded to their tiles; what lies in VMEM costs none. Of an operand that a fusion only
// slices, the slices count; of a result that only has a part written anew, in place, that part. Gathers and scatters move the
// rows that they name.
// The vector unit does one operation for each element of floating-point elementwise instructions and of what is reduced, four
// of transcendental ones (work/vector_work.h); conversions, broadcasts and moves are free, as are whole numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/base/quantity.h"
#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Bytes of the kernels of one module. What it has found of a computation that fusions carry out it keeps.
class Traffic {
public:
    explicit Traffic(const Module& module) : module_(module) {}

    /// Of an instruction that is a kernel of its own.
    sim::Bytes hbm_of(const Computation& computation, const Instruction& instruction);

private:
    /// A computation's values, and what follows from all of them.
    struct Fused {
        std::vector<std::vector<std::uint32_t>> users;
        std::vector<std::uint32_t> source;            ///< behind views of each
        std::vector<std::optional<sim::Bytes>> read;  ///< of each, as far as it was asked for
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
/// Of an instruction, and of what it carries out.
sim::Flops vector_of(const Module& module, const Computation& computation,
                     const Instruction& instruction);
/// Bytes of the arrays of a shape that lie in HBM.
inline sim::Bytes in_hbm(const Shape& shape) {
    return shape.sums.in_hbm;
}

}  // namespace podsim::workloads::hlo
