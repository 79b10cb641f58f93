// The totals of one run of a module on one device: FLOPs, bytes and collectives, each counted once
// for every iteration of the loops around it.
//
// XLA's own cost analysis counts a loop's body once and collectives not at all. A `conditional`
// counts its branch with most FLOPs (`branches` is the number of conditionals); fusions and
// asynchronous wrappers count the instructions that they carry out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/hlo/cost_estimate.h"
#include "workloads/hlo/items.h"
#include "workloads/hlo/module.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads::hlo {

/// Collectives of one operation over the same groups.
struct CollectiveTotal {
    double count = 0;
    sim::Bytes result;  ///< of their results
    /// Lower bound of the bytes that a device receives from other members; for a permute, a device
    /// that receives from another one.
    sim::Bytes received;
    double was_all_reduce = 0;               ///< of `count`: written as AllReduces
    std::map<std::string, double> passes{};  ///< of `count`, by pass
};

/// Matmuls of the MXU with the same types and precision.
struct MatmulTotal {
    double count = 0;
    sim::Flops flops;
    double passes = 1;  ///< of the systolic array
    MatmulDtype dtype = MatmulDtype::bf16;
    bool narrow = false;  ///< Matmul::narrow
};

struct LoopTotal {
    std::string name;
    std::int64_t trips = 0;
    double runs = 0;  ///< of the loop as a whole
    int line = 0;
};

struct Totals {
    std::int64_t devices = 1;
    bool devices_stated = false;
    double matmuls = 0;
    sim::Flops matmul_flops;
    sim::Flops attention_flops;                       ///< of kernels identified by name
    sim::Flops given_flops;                           ///< of custom calls, given by the user
    sim::Flops estimated_flops;                       ///< of custom calls, by their own estimates
    std::map<std::string, MatmulTotal> matmul_types;  ///< by Matmul::types
    sim::Flops vector;
    sim::Bytes hbm;
    std::map<std::string, sim::Flops> flops_by_pass;  ///< of matmuls and attention
    /// Collectives by operation and groups: `[64,2]<=[2,64]T(1,0)`; `pairs` for permutes,
    /// `irregular` for groups of no regular form.
    std::map<std::pair<std::string, std::string>, CollectiveTotal> collectives;
    std::map<std::string, double> custom_calls;  ///< by target
    /// Custom calls whose FLOPs and bytes are their own estimates.
    double estimated_calls = 0;
    /// Bytes that kernels send to other chips themselves, by their estimates.
    sim::Bytes remote;
    /// Collectives whose ids are beyond the header's counts.
    double beyond_counts = 0;
    /// Sorted targets of calls about which nothing is known.
    std::vector<std::string> unknown_calls;
    /// Opcodes of which only the bytes are known.
    std::map<std::string, double> unknown_opcodes;
    double host_copies = 0;
    sim::Bytes host_bytes;
    std::vector<LoopTotal> loops;
    double branches = 0;
    double left_out = 0;    ///< send and recv between devices
    sim::Bytes parameters;  ///< arguments of the entry
};

/// Facts of an item that totals use, the same for each of its runs.
struct ItemFacts {
    /// Key of a collective, and the sums that each run adds.
    struct Collective {
        std::pair<std::string, std::string> key;
        sim::Bytes result;
        /// Shards of the result, of which only one is used.
        double parts = 1;
        sim::Bytes received;
        bool was_all_reduce = false;
        /// True if ids are beyond the header's counts.
        bool beyond = false;
    };
    Pass pass = Pass::forward;
    bool attention = false;
    /// Estimate of a custom call whose FLOPs and bytes are its own.
    std::optional<CostEstimate> estimate{};
    bool custom_call = false;
    bool unknown_call = false;
    std::string_view target{};  ///< of a custom call
    std::vector<std::string> unknown_opcodes{};
    std::vector<Collective> collectives{};
};

/// Iterations, by name, of loops whose text does not state them. A loop with neither is an error.
using GivenTrips = std::map<std::string, std::int64_t>;

/// Returns the number of devices: ids in groups and pairs or the header's counts, whichever is
/// more; 1 without either.
std::int64_t devices_of(const Module& module);
/// The pass of an instruction, by its op_name. JAX writes `rematted_computation` for recomputation,
/// `transpose(` for the backward pass and `jvp(` for the forward pass; the optimizer has none of
/// them. A module without gradients is all forward.
class Passes {
public:
    explicit Passes(const Module& module);
    [[nodiscard]] Pass of(const Instruction& instruction) const;

private:
    bool trains_ = false;
};
/// The run of a module: the items of its computations, the iterations of its loops, the branches of
/// its conditionals. Each is found once.
class ModuleRun {
public:
    /// Keeps references to all arguments.
    ModuleRun(const Module& module, const CostRules& rules, const GivenTrips& given);

    const std::vector<Item>& items(const Computation& computation) {
        return items_.of(computation);
    }
    [[nodiscard]] Budget& budget() { return items_.budget(); }
    /// Returns the iterations of a loop, as written or given. Throws sim::InputError that names the
    /// loop if there are neither.
    std::int64_t trips(const Computation& computation, const Instruction& loop);
    /// Returns the index of the longest computation that a `conditional` calls: the one with most
    /// FLOPs, then most bytes of HBM and collectives, then the first. Returns nothing if the text
    /// has none of them.
    std::optional<std::uint32_t> branch(const Instruction& conditional);

private:
    const Module& module_;
    const CostRules& rules_;
    const GivenTrips& given_;
    const Passes passes_;
    const std::int64_t devices_;
    ModuleItems items_;
    std::map<const Computation*, std::vector<ItemFacts>> facts_;  ///< for devices_
    std::map<const Instruction*, std::int64_t> trips_;
    std::map<const Instruction*, std::optional<std::uint32_t>> branches_;
};
/// Returns the computations with which a run begins: the entry. In a text that is cut off, these
/// are all computations that no other calls, except for the insides of fusions.
std::vector<std::uint32_t> entries_of(const Module& module);

/// Exclusive limit of the evaluations of a loop's condition: its runs x (iterations + 1).
inline constexpr double kMostRuns = 0x1p63;

/// Throws sim::InputError for a module that is not partitioned yet, for a loop of unknown
/// iterations, and for one that runs 2^63 times or more. `devices` of 0 stands for the module's own
/// number.
Totals totals_of(const Module& module, const CostRules& rules, const GivenTrips& given,
                 std::int64_t devices = 0);

}  // namespace podsim::workloads::hlo
