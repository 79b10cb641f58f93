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
#include <map>
#include <vector>

#include "collectives/vocabulary/operation.h"
#include "workloads/hlo/budget.h"
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

/// What was found of collectives, each once however many fusions carry it out.
using KnownCollectives = std::map<const Instruction*, FoundCollective>;

/// Those of the instructions of one computation.
class Collectives {
public:
    /// `users`: of the computation (users_of); it is kept by reference, as the others are.
    Collectives(const Module& module, const Computation& computation,
                const std::vector<std::vector<std::uint32_t>>& users, Budget& budget,
                KnownCollectives& known)
        : module_(module),
          computation_(computation),
          users_(users),
          budget_(budget),
          known_(known) {}

    std::vector<FoundCollective> of(const Instruction& instruction);

private:
    [[nodiscard]] FoundCollective found(const Instruction& instruction, bool in_fusion);
    bool is_reduce_scatter(const Instruction& instruction, bool in_fusion);
    bool is_placed(const Instruction& all_reduce, const Instruction& slice);
    bool from_device_number(std::uint32_t number);
    void append_inner(const Instruction& wrapper, std::vector<FoundCollective>& all);

    const Module& module_;
    const Computation& computation_;
    const std::vector<std::vector<std::uint32_t>>& users_;
    Budget& budget_;
    KnownCollectives& known_;
    std::vector<bool> from_device_number_{};  ///< by instruction, where it was asked for
};

/// Throws sim::InputError where podsim has no such collective.
collectives::Operation operation_of(const Module& module, const Instruction& instruction);

}  // namespace podsim::workloads::hlo
