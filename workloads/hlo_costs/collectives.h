// The collectives that an instruction carries out.
//
// A fusion or an asynchronous wrapper carries out those in its computation. Of a fusion whose AllReduce only a dynamic-slice reads
// (`%all-reduce-scatter`), and of an AllReduce outside of fusions all of whose users are dynamic-slices of 1/g at a place that follows
// from the device's number, only the scattered part is of use: they are ReduceScatters. XLA's passes for TPUs make them such, and the
// text before those passes has not got them yet.
//
// V, the complete array within one group (collectives/vocabulary): AllGather the result, ReduceScatter the operand, AllReduce either,
// AllToAll and permutes what all g members hold together.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/vocabulary/operation.h"
#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

struct FoundCollective {
    collectives::Operation operation{};
    const Instruction* at =
        nullptr;        ///< the collective itself: who takes part (hlo/device_counts.h)
    sim::Bytes result;  ///< logical bytes of its result
    sim::Bytes
        stored{};  ///< of what V is counted in: of one member's part of AllToAll and permutes
    bool was_all_reduce = false;  ///< written as an AllReduce, of use only as a ReduceScatter
};

/// `users`: of the computation (users_of).
std::vector<FoundCollective> collectives_of(const Module& module, const Computation& computation,
                                            const Instruction& instruction,
                                            const std::vector<std::vector<std::uint32_t>>& users);

/// Throws sim::InputError where podsim has no such collective.
collectives::Operation operation_of(const Module& module, const Instruction& instruction);

}  // namespace podsim::workloads::hlo
