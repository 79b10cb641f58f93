// Writes the operations of a step and their dependencies: kernels in sequence on the stream, others
// beside it.
//
// Dependencies and lists of them may grow with the square of a module, so each counts as a step of
// one budget.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "workloads/hlo/budget.h"
#include "workloads/hlo/import_step.h"

namespace podsim::workloads::hlo {

/// Operations that must end before a value is ready: the last kernel, and operations beside the
/// kernels.
using Ready = std::vector<OpIndex>;
/// The operations of one value, shared by all names of the value.
using SharedReady = std::shared_ptr<const Ready>;

class StepWriter {
public:
    /// Keeps a reference to the module.
    explicit StepWriter(const Module& module);

    /// Spends steps for an instruction.
    void spend(const Instruction& at, double steps) { budget_.spend(at, steps); }

    /// Waits for the operations beside the stream that began since `since`, and for `needs`, and
    /// begins the next turn of the program (StepProgram::turns).
    void barrier(const Instruction& at, const std::string& name, int layer, OpIndex since = 0,
                 const Ready& needs = {});
    /// Adds an operation to the stream, behind its last kernel and the operations for which the
    /// stream waits.
    OpIndex add_kernel(const Instruction& at, Op op, const Ready& needs);
    /// Adds an operation beside the stream. It begins when the stream reaches it; in a module that
    /// is not scheduled, when its operands are ready. If it `blocks`, the stream of a scheduled
    /// module waits for it before the next kernel.
    OpIndex add_beside(const Instruction& at, Op op, const Ready& needs, bool blocks);
    /// Makes the stream wait, before its next kernel, for those operations that are not kernels.
    void wait_for(const Ready& ready);
    /// Replaces the operations for which the stream waits; returns the former ones.
    Ready exchange_waits(Ready waits);

    /// Appends `more` to `into`, which may hold duplicates until it is reduced.
    void join(const Instruction& at, Ready& into, const Ready& more);
    /// Returns each operation once, and of the kernels only the last.
    [[nodiscard]] Ready reduced(Ready ready) const;
    [[nodiscard]] SharedReady kept(const Instruction& at, Ready ready);
    [[nodiscard]] const SharedReady& nothing() const { return nothing_; }

    [[nodiscard]] int layer() const { return layer_; }
    [[nodiscard]] std::vector<Op>& ops() { return step_.program.ops; }
    [[nodiscard]] ImportedStep& step() { return step_; }

private:
    OpIndex add(const Instruction& at, Op op);
    [[nodiscard]] bool is_kernel(OpIndex number) const;

    const Module& module_;
    Budget budget_;
    const SharedReady nothing_ = std::make_shared<const Ready>();
    ImportedStep step_;
    std::optional<OpIndex> last_kernel_;
    std::optional<OpIndex> barrier_;
    /// Operations for which the stream waits before its next kernel.
    Ready waits_;
    std::set<OpIndex> beside_;  ///< for which no kernel has waited
    int layer_ = -1;
};

}  // namespace podsim::workloads::hlo
