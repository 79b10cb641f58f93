// The operations of one chip in program order, what they need, and the order in which they run.
//
// Every operation states what it needs (the operations that make what it reads) and by what the plan bounds it. From
// these and the program order the chain derives what an operation waits for (Op::after):
//   compute and blocking collectives (tensor, context, expert) form one chain: each waits for the one before it, so a
//     blocking collective stands strictly on the critical path. A compute operation also waits for what it needs from
//     beside the chain, unless an earlier one has, and for what await() and bound() name;
//   an operation beside the chain waits for what its caller says: its needs and limits, or the chain as it stands.
// With collectives_in_flight = n the i-th collective in program order also waits for the end of the (i - n)-th.
// Another order of the same operations (schedule/) reads Op::needs and Op::limits of the finished program, which no order
// enters, and writes Op::after anew.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "workloads/chain/op_names.h"
#include "workloads/chain/tensor.h"
#include "workloads/plan/overlap.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

class Chain {
public:
    Chain(const Overlap& overlap, const OpNames& names);

    /// Following operations are a new unit of the stage's order.
    void begin_unit() { program_.units.push_back(next()); }

    /// Following operations are a new turn (StepProgram::turns).
    void begin_turn();

    /// The next compute operation of the chain.
    OpIndex compute(std::string_view what, Compute work, Sources needs);
    /// A collective on the chain.
    OpIndex blocking(std::string_view what, Collective collective, Sources needs);

    /// Why an operation beside the chain waits.
    struct Waits {
        Sources needs{};
        Sources limits{};
        Sources after{};  ///< as it is scheduled
    };
    OpIndex beside(OpLabel label, Work work, Waits waits);
    /// A collective beside the chain that counts among those in flight, and waits for its turn.
    OpIndex collective(OpLabel label, Collective collective, Waits waits);
    /// Bounds an operation by the collectives in flight.
    void wait_for_turn(Waits& waits) const;
    /// Counts a collective that was written as several operations, by the one that ends it.
    void count_collective(OpIndex op) { collectives_.push_back(op); }
    /// The chain as it stands: what an operation waits for that may begin now.
    [[nodiscard]] Sources end() const;

    /// The next compute operation waits until these have ended: what a later one reads is there from then on.
    void await(const Sources& ops);
    /// The next compute operation is bounded by these.
    void bound(const Sources& ops);
    /// The next operation of the chain waits for these too: they end what the last one began.
    void join(Sources ops) { joined_ = std::move(ops); }
    /// An operation beside the chain takes its place as the chain's end; the next one waits for both ends.
    void continue_behind(OpIndex op) { behind_ = std::exchange(last_, op); }

    /// The chain's last operation, its last compute, and the next operation of any kind.
    [[nodiscard]] OpIndex last() const { return last_; }
    [[nodiscard]] OpIndex last_compute() const { return last_compute_; }
    [[nodiscard]] OpIndex next() const { return static_cast<OpIndex>(program_.ops.size()); }

    /// The program without its buffers.
    StepProgram finish() { return std::move(program_); }

private:
    template <class Some>
    OpIndex add(OpLabel label, Some&& work, Waits waits);
    /// The chain's end, which the next operation of the chain takes.
    Sources take_end();

    const OpNames& names_;
    const std::size_t in_flight_;
    StepProgram program_;
    OpIndex last_ = kWholeStep;  ///< kWholeStep before the first operation of the chain
    OpIndex last_compute_ = kWholeStep;
    OpIndex behind_ = kWholeStep;
    Sources joined_;
    Sources awaited_;  ///< by the next compute operation
    Sources bounds_;   ///< of the next compute operation
    /// By operation: on the chain, or waited for by some operation of the chain.
    std::vector<bool> met_;
    std::vector<OpIndex> collectives_;  ///< all of them
};

}  // namespace podsim::workloads
