// A computation as a list of things that a chip does, each with its cost.
//
// In a module with fusions every kernel is an instruction: fusing has been done. In one without, as XLA's SPMD partitioner leaves it,
// elementwise instructions are fused here: between two others (matmuls, custom calls, collectives, loops) those that read
// each other are one kernel, which reads once what comes from outside and writes what others read. XLA's fusions may be fewer or
// more; of all bytes most are the matmuls' and the collectives'.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "workloads/hlo/budget.h"
#include "workloads/hlo/module.h"
#include "workloads/hlo_costs/collectives.h"
#include "workloads/hlo_costs/doing.h"
#include "workloads/hlo_costs/matmuls.h"
#include "workloads/hlo_costs/traffic.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads::hlo {

struct Item {
    Doing doing{};
    std::vector<std::uint32_t> members{};  ///< instructions, ascending; the last gives it its name
    Compute work{};                        ///< of a kernel, and of a fusion beside its collectives
    std::vector<Matmul> matmuls{};         ///< of the MXU, in `work`
    std::vector<FoundCollective> collectives{};
    sim::Bytes bytes{};  ///< of a host copy or a prefetch
};

/// How costs are found that the text does not have.
struct CostRules {
    bool dq_apart =
        false;  ///< attention's backward pass has a kernel for the queries' gradient alone (has_dq_kernel)
    bool causal = true;  ///< attention kernels skip half of their scores
    /// FLOPs of a custom call that the user gives; below 0: none.
    std::function<double(const Instruction&)> flops{};
};

/// Whether a kernel makes the gradient of attention's queries alone, as JAX's flash kernels for TPUs do unless they are fused.
bool has_dq_kernel(const Module& module);

/// Whether anything in the module is a fusion.
bool is_fused(const Module& module);

/// The items of a module's computations, each made when it is asked for, within one budget of work.
class ModuleItems {
public:
    /// Both are kept by reference.
    ModuleItems(const Module& module, const CostRules& rules);
    ModuleItems(const ModuleItems&) = delete;
    ModuleItems& operator=(const ModuleItems&) = delete;

    /// In the order of the text; what does nothing is in none.
    const std::vector<Item>& of(const Computation& computation);
    [[nodiscard]] Budget& budget() { return budget_; }

private:
    friend class Items;

    const Module& module_;
    const CostRules& rules_;
    const bool fuses_;  ///< what is elementwise: the module has no fusions
    Budget budget_;
    Traffic traffic_;
    KnownCollectives collectives_;
    std::map<const Instruction*, Matmul> matmuls_;
    std::map<const Computation*, std::vector<Item>> known_;
};

/// A custom call whose FLOPs and bytes are its own estimate: neither given nor those of a kernel that is known.
bool is_estimated(const Computation& computation, const Instruction& instruction,
                  const CostRules& rules);
/// A custom call of which nothing but its operands and results is known.
bool is_unknown_call(const Computation& computation, const Instruction& instruction,
                     const CostRules& rules);

/// Opcodes of an instruction, and of what it carries out, of which nothing but operands and results is known (is_known_opcode).
std::vector<std::string> unknown_opcodes(const Module& module, const Instruction& instruction);

}  // namespace podsim::workloads::hlo
