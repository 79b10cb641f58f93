// A computation as a list of the items that a chip executes, each with its cost.
//
// In a module with fusions every kernel is an instruction. In one without, as XLA's SPMD
// partitioner leaves it, elementwise instructions are fused here: between two others (matmuls,
// custom calls, collectives, loops), those that read each other form one kernel, which reads
// outside operands once and writes the results that others read. XLA may form fewer or more
// fusions, but most bytes are those of matmuls and collectives.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "workloads/hlo/budget.h"
#include "workloads/hlo/collectives.h"
#include "workloads/hlo/doing.h"
#include "workloads/hlo/matmuls.h"
#include "workloads/hlo/module.h"
#include "workloads/hlo/traffic.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads::hlo {

struct Item {
    Doing doing{};
    /// Instructions, ascending; the last one names the item.
    std::vector<std::uint32_t> members{};
    /// Work of a kernel, and of a fusion beside its collectives.
    Compute work{};
    /// Matmuls of the MXU within `work`.
    std::vector<Matmul> matmuls{};
    std::vector<FoundCollective> collectives{};
    sim::Bytes bytes{};  ///< of a host copy or a prefetch
};

/// Rules for costs that the text does not state.
struct CostRules {
    /// True if attention's backward pass has a kernel for the queries' gradient alone
    /// (has_dq_kernel).
    bool dq_apart = false;
    /// True if attention kernels skip half of their scores.
    bool causal = true;
    /// Returns the FLOPs that the user gives for a custom call; negative if none are given.
    std::function<double(const Instruction&)> flops{};
};

/// True if a kernel computes the gradient of attention's queries alone, as JAX's flash kernels for
/// TPUs do unless they are fused.
bool has_dq_kernel(const Module& module);

/// True if the module has a fusion.
bool is_fused(const Module& module);

/// The items of a module's computations. Each list is made on first use, within one budget of work.
class ModuleItems {
public:
    /// Keeps references to both arguments.
    ModuleItems(const Module& module, const CostRules& rules);
    ModuleItems(const ModuleItems&) = delete;
    ModuleItems& operator=(const ModuleItems&) = delete;

    /// Returns the items in the order of the text, without instructions that do nothing.
    const std::vector<Item>& of(const Computation& computation);
    [[nodiscard]] Budget& budget() { return budget_; }

private:
    friend class Items;

    const Module& module_;
    const CostRules& rules_;
    /// True if elementwise instructions are fused here: the module has no fusions.
    const bool fuses_;
    Budget budget_;
    Traffic traffic_;
    KnownCollectives collectives_;
    std::map<const Instruction*, Matmul> matmuls_;
    std::map<const Computation*, std::vector<Item>> known_;
};

/// True for a custom call whose FLOPs and bytes are its own estimate: none are given, and its
/// kernel is not a known one.
bool is_estimated(const Computation& computation, const Instruction& instruction,
                  const CostRules& rules);
/// True for a custom call about which only operands and results are known.
bool is_unknown_call(const Computation& computation, const Instruction& instruction,
                     const CostRules& rules);

/// Returns the opcodes of an instruction, and of those that it carries out, about which only
/// operands and results are known (is_known_opcode).
std::vector<std::string> unknown_opcodes(const Module& module, const Instruction& instruction);

}  // namespace podsim::workloads::hlo
