// What a kernel reads and writes of HBM, and what its vector unit does.
//
// Bytes are those that arrays take in memory, padded to their tiles; what lies in VMEM costs none. Of an operand that a fusion only
// slices, the slices count; of a result that only has a part written anew, in place, that part. Gathers and scatters move the
// rows that they name.
// The vector unit does one operation for each element of floating-point elementwise instructions and of what is reduced, four
// of transcendental ones (work/vector_work.h); conversions, broadcasts and moves are free, as are whole numbers.
#pragma once

#include "sim/base/quantity.h"
#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Of an instruction that is a kernel of its own.
sim::Bytes hbm_of(const Module& module, const Computation& computation,
                  const Instruction& instruction);
/// Of an instruction, and of what it carries out.
sim::Flops vector_of(const Module& module, const Computation& computation,
                     const Instruction& instruction);
/// Bytes of the arrays of a shape that lie in HBM.
sim::Bytes in_hbm(const Shape& shape);

}  // namespace podsim::workloads::hlo
