// What a module does in one run, of one device: FLOPs, bytes and collectives, each counted as often as the loops around it go round.
//
// XLA's own cost analysis counts a loop's body once and collectives not at all. Of a `conditional` the branch with most FLOPs counts
// (`branches` says how many there are); of fusions and asynchronous wrappers what they carry out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/hlo/module.h"
#include "workloads/hlo_costs/cost_estimate.h"
#include "workloads/hlo_costs/items.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads::hlo {

/// Collectives of one kind over the same groups.
struct CollectiveTotal {
    double count = 0;
    sim::Bytes result;  ///< of their results
    sim::Bytes
        received;  ///< the least that a device must receive of other members; of a permute one that receives of another
    double was_all_reduce = 0;               ///< of `count`: written as AllReduces
    std::map<std::string, double> passes{};  ///< of `count`
};

/// Matmuls of the MXU of the same types at the same precision.
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
    double runs = 0;  ///< of the loop itself
    int line = 0;
};

struct Totals {
    std::int64_t devices = 1;
    bool devices_stated = false;
    double matmuls = 0;
    sim::Flops matmul_flops;
    sim::Flops attention_flops;                       ///< of kernels known by their names
    sim::Flops given_flops;                           ///< of custom calls, by the user
    sim::Flops estimated_flops;                       ///< of custom calls, by their own estimate
    std::map<std::string, MatmulTotal> matmul_types;  ///< by Matmul::types
    sim::Flops vector;
    sim::Bytes hbm;
    std::map<std::string, sim::Flops> flops_by_pass;  ///< of matmuls and attention
    /// By operation and groups, `[64,2]<=[2,64]T(1,0)`; `pairs` of permutes, `irregular` of groups of no regular form.
    std::map<std::pair<std::string, std::string>, CollectiveTotal> collectives;
    std::map<std::string, double> custom_calls;  ///< by target
    double estimated_calls = 0;                  ///< whose FLOPs and bytes are their own estimate
    sim::Bytes remote;         ///< that kernels send to other chips themselves, by their estimate
    double beyond_counts = 0;  ///< collectives whose ids the header's counts do not have
    std::vector<std::string> unknown_calls;         ///< targets of which nothing is known, sorted
    std::map<std::string, double> unknown_opcodes;  ///< of which only the bytes are known
    double host_copies = 0;
    sim::Bytes host_bytes;
    std::vector<LoopTotal> loops;
    double branches = 0;
    double left_out = 0;    ///< send and recv between devices
    sim::Bytes parameters;  ///< arguments of the entry
};

/// What totals take of an item, whatever run of it.
struct ItemFacts {
    /// Of a collective: its row, and what a run of it adds.
    struct Collective {
        std::pair<std::string, std::string> key;
        sim::Bytes result;
        double parts = 1;  ///< of the result, of which one is of use
        sim::Bytes received;
        bool was_all_reduce = false;
        bool beyond = false;  ///< ids are beyond the header's counts
    };
    Pass pass = Pass::forward;
    bool attention = false;
    std::optional<CostEstimate>
        estimate{};  ///< of a custom call whose FLOPs and bytes are its own estimate
    bool custom_call = false;
    bool unknown_call = false;
    std::string_view target{};  ///< of a custom call
    std::vector<std::string> unknown_opcodes{};
    std::vector<Collective> collectives{};
};

/// How often loops go round that do not say so: by name. Others are an error.
using GivenTrips = std::map<std::string, std::int64_t>;

/// Numbers that appear in groups and pairs, and what the header states, whichever is more; 1 without either.
std::int64_t devices_of(const Module& module);
/// Which pass an instruction belongs to, by its op_name: JAX writes `rematted_computation` in what is computed again, `transpose(` in what
/// the backward pass does, `jvp(` in the forward one; what is in none of them is the optimizer. A module without gradients is all forward.
class Passes {
public:
    explicit Passes(const Module& module);
    [[nodiscard]] Pass of(const Instruction& instruction) const;

private:
    bool trains_ = false;
};
/// How a module runs: the items of its computations, how often its loops go round, which branches its conditionals take. Each is found once.
class ModuleRun {
public:
    /// All are kept by reference.
    ModuleRun(const Module& module, const CostRules& rules, const GivenTrips& given);

    const std::vector<Item>& items(const Computation& computation) {
        return items_.of(computation);
    }
    [[nodiscard]] Budget& budget() { return items_.budget(); }
    /// Trips of a loop, as written or given. Throws sim::InputError that names the loop.
    std::int64_t trips(const Computation& computation, const Instruction& loop);
    /// Which of the computations that a `conditional` calls has most FLOPs, of equals most bytes of HBM and of collectives, of equals the
    /// first; nothing where the text has none of them.
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
/// What a run begins with: the entry; of a text that was cut off all computations that nothing calls, but for the insides of fusions.
std::vector<std::uint32_t> entries_of(const Module& module);

/// Times that a loop's body may run in all, and one iteration more than any may have.
inline constexpr double kMostRuns = 0x1p63;

/// Throws sim::InputError for a module that is not partitioned yet, for a loop of unknown trips, and for one that runs 2^63 times or more. `devices`: how many, 0: as the
/// module says.
Totals totals_of(const Module& module, const CostRules& rules, const GivenTrips& given,
                 std::int64_t devices = 0);

}  // namespace podsim::workloads::hlo
