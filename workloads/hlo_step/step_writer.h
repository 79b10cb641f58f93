// Writes the operations of a step and what they wait for: kernels one after another on the stream, others beside it.
//
// What may grow with the square of a module, dependencies and the lists of them, is counted as steps of one budget.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "workloads/hlo/budget.h"
#include "workloads/hlo_step/import_step.h"

namespace podsim::workloads::hlo {

/// Operations that must have ended for a value to be there: the last kernel, and what runs beside kernels.
using Ready = std::vector<OpIndex>;
/// Of a value; names of it share its own.
using SharedReady = std::shared_ptr<const Ready>;

class StepWriter {
public:
    /// The module is kept by reference.
    explicit StepWriter(const Module& module);

    /// Takes so many steps for an instruction.
    void spend(const Instruction& at, double steps) { budget_.spend(at, steps); }

    /// What has begun since operation `since` ends here, as do `needs`, and the next turn begins.
    void barrier(const Instruction& at, const std::string& name, int layer, OpIndex since = 0,
                 const Ready& needs = {});
    /// On the stream: behind the kernel before it and what the stream has to wait for.
    OpIndex add_kernel(const Instruction& at, Op op, const Ready& needs);
    /// Beside the stream, from where it is now (of a module that is not scheduled: from when its operands are there).
    OpIndex add_beside(const Instruction& at, Op op, const Ready& needs, bool blocks);
    /// The stream waits for those of them that are no kernels before its next kernel.
    void wait_for(const Ready& ready);
    /// Those for which it waits so; they are `waits` then.
    Ready exchange_waits(Ready waits);

    /// Adds `more` to `into`, which may have some of it twice until it is reduced.
    void join(const Instruction& at, Ready& into, const Ready& more);
    /// Each once; of all kernels the last is enough.
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
    Ready waits_;               ///< for which the stream waits before its next kernel
    std::set<OpIndex> beside_;  ///< of which no kernel has waited
    int layer_ = -1;
};

}  // namespace podsim::workloads::hlo
