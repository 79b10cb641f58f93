// The collectives that an instruction carries out.
//
// A fusion or an asynchronous wrapper carries out those in its computation. An AllReduce counts as
// a ReduceScatter if only its scattered shard is used: in a fusion, if only a dynamic-slice reads
// it (`%all-reduce-scatter`); outside of fusions, if all of its users are dynamic-slices of 1/g at
// a position that follows from the device's number. XLA's passes for TPUs rewrite these as
// ReduceScatters; a text from before those passes still has AllReduces.
//
// V is the complete array within one group (collectives/vocabulary): for AllGather the result, for
// ReduceScatter the operand, for AllReduce either, for AllToAll and permutes the arrays of all g
// members together.
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
    /// The collective itself, which names the members (hlo/device_counts.h).
    const Instruction* at = nullptr;
    sim::Bytes result;  ///< logical bytes of its result
    /// Bytes in memory from which V follows; for AllToAll and permutes those of one member.
    sim::Bytes stored{};
    /// True if it is written as an AllReduce of which only the scattered shard is used.
    bool was_all_reduce = false;
};

/// Cache of collectives by instruction: each is examined once however many fusions carry it out.
using KnownCollectives = std::map<const Instruction*, FoundCollective>;

/// The collectives of the instructions of one computation.
class Collectives {
public:
    /// `users` are those of the computation (users_of). All arguments are kept by reference.
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
    /// Flags by instruction, computed up to the last one that was asked for.
    std::vector<bool> from_device_number_{};
};

/// Throws sim::InputError if podsim has no such collective.
collectives::Operation operation_of(const Module& module, const Instruction& instruction);

}  // namespace podsim::workloads::hlo
