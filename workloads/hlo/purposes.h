// The purpose of a collective of a module, from its operands and its users.
//
//   weights    an AllGather of a parameter that was only converted, moved or cut
//   gradients  an AllReduce or ReduceScatter outside the forward pass whose result no matmul uses
//   tensor     all others: they are on the critical path
// The purpose decides the priority at a link and the row of the report.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/hlo/collectives.h"
#include "workloads/hlo/totals.h"

namespace podsim::workloads::hlo {

/// The purposes of the collectives of one computation.
class Purposes {
public:
    Purposes(const Module& module, const Computation& computation, const Passes& passes);

    [[nodiscard]] Purpose of(std::uint32_t instruction, const FoundCollective& collective) const;

private:
    [[nodiscard]] bool only_moves(const Instruction& instruction) const;
    [[nodiscard]] bool multiplies(const Instruction& instruction) const;

    const Module& module_;
    const Computation& computation_;
    const Passes& passes_;
    /// Flags of parameters and of values made from one by moves alone, through first operands.
    std::vector<bool> from_parameter_;
    /// Flags of values that a matmul, a loop or a call uses, directly or through other users.
    std::vector<bool> to_matmul_;
};

}  // namespace podsim::workloads::hlo
