// What a collective of a module is for, from what it reads and what reads it.
//
//   weights    an AllGather of what came into the computation and was only converted, moved or cut since
//   gradients  an AllReduce or a ReduceScatter outside of the forward pass from whose result no matmul follows
//   tensor     all others: they stand on the critical path
// It decides which goes first at a link, and the row of the report.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/hlo_costs/collectives.h"
#include "workloads/hlo_totals/totals.h"

namespace podsim::workloads::hlo {

/// Of collectives of one computation.
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
    std::vector<bool>
        from_parameter_;  ///< a parameter, or made of one by moves alone, by first operands
    std::vector<bool>
        to_matmul_;  ///< of what reads it, or what reads that, something multiplies or calls
};

}  // namespace podsim::workloads::hlo
