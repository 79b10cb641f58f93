// The operations of one chip in program order, their needs, and the order in which they run.
//
// Every operation states its needs (the operations that make what it reads) and its bounds by the
// plan. From these and the program order the chain derives the operations that it waits for
// (Op::after):
//   Compute and blocking collectives (tensor, context, expert) form one chain. Each waits for the
//     one before it, so a blocking collective is strictly on the critical path. A compute operation
//     also waits for its needs beside the chain, unless an earlier one has, and for the operations
//     that await() and bound() name.
//   An operation beside the chain waits for the operations that its caller names: its needs and
//     limits, or the end of the chain.
// With collectives_in_flight = n the i-th collective in program order also waits for the end of the
// (i - n)-th. Another order of the same operations (schedule/) reads Op::needs and Op::limits of
// the finished program, which depend on no order, and writes Op::after anew.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "workloads/plan/overlap.h"
#include "workloads/program/op_names.h"
#include "workloads/program/step_program.h"
#include "workloads/program/tensor.h"

namespace podsim::workloads {

class Chain {
public:
    Chain(const Overlap& overlap, const OpNames& names);

    /// Begins a new unit of the stage's order with the next operation.
    void begin_unit() { program_.units.push_back(next()); }

    /// Begins a new turn (StepProgram::turns) with the next operation.
    void begin_turn();

    /// Adds the next compute operation of the chain.
    OpIndex compute(std::string_view what, Compute work, Sources needs);
    /// Adds a collective on the chain.
    OpIndex blocking(std::string_view what, Collective collective, Sources needs);

    /// The reasons why an operation beside the chain waits.
    struct Waits {
        Sources needs{};
        Sources limits{};
        Sources after{};  ///< as it is scheduled
    };
    OpIndex beside(OpLabel label, Work work, Waits waits);
    /// Adds a collective beside the chain that counts among those in flight, and waits for one to
    /// end.
    OpIndex collective(OpLabel label, Collective collective, Waits waits);
    /// Bounds an operation by the collectives in flight.
    void wait_for_turn(Waits& waits) const;
    /// Counts a collective that was written as several operations, by the one that ends it.
    void count_collective(OpIndex op) { collectives_.push_back(op); }
    /// Returns the end of the chain, for which an operation waits that may begin now.
    [[nodiscard]] Sources end() const;

    /// Makes the next compute operation wait until these have ended; their results are there for
    /// later ones.
    void await(const Sources& ops);
    /// Bounds the next compute operation by these.
    void bound(const Sources& ops);
    /// Makes the next operation of the chain wait for these too: they end what the last one began.
    void join(Sources ops) { joined_ = std::move(ops); }
    /// Makes an operation beside the chain the chain's end; the next one waits for both ends.
    void continue_behind(OpIndex op) { behind_ = std::exchange(last_, op); }

    /// The chain's last operation, its last compute, and the next operation of any kind.
    [[nodiscard]] OpIndex last() const { return last_; }
    [[nodiscard]] OpIndex last_compute() const { return last_compute_; }
    [[nodiscard]] OpIndex next() const { return static_cast<OpIndex>(program_.ops.size()); }

    /// Returns the program without its buffers.
    StepProgram finish() { return std::move(program_); }

private:
    template <class Some>
    OpIndex add(OpLabel label, Some&& work, Waits waits);
    /// Takes the chain's end for the next operation of the chain.
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
    /// By operation: true if it is on the chain, or if an operation of the chain waits for it.
    std::vector<bool> met_;
    std::vector<OpIndex> collectives_;  ///< all of them
};

}  // namespace podsim::workloads
