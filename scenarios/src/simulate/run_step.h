// The run of a lowered step, and the times of its chips' operations.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/simulate/lower_step.h"
#include "sim/base/time.h"
#include "sim/workload/observer.h"
#include "sim/workload/result.h"

namespace podsim::scenarios {

/// Times of one chip, by operation of its program.
struct ChipRun {
    int representative = 0;
    std::vector<sim::Time> began;
    /// End of the operation. For a sent handover it is the arrival time of the last byte: the
    /// sender's buffer is live until then.
    std::vector<sim::Time> ended;
    /// Time at which the others were ready, else 0. For a received handover: when the sender
    /// released it. For a collective over an axis of unequal work: when the last member of the
    /// chip's group began; for a ring step: when the member before it began.
    std::vector<sim::Time> sent;
};

struct StepRun {
    sim::ExecutionResult result;
    /// The program of the chip that ended last (the first of several); among the members of its
    /// stage, the program of the one that computes longest.
    std::size_t program = 0;
    /// By program: the chip that ended last (the first of several).
    std::vector<ChipRun> chips;
    /// Set on request, for each program of a pipeline. For the stage of `program` they are the
    /// chips above; for other stages the chips at the same ranks of all other axes, with which
    /// these exchange messages (partners.h). Empty if no message leads to a stage.
    std::vector<ChipRun> partners{};

    /// The chip of that program.
    [[nodiscard]] const ChipRun& reported() const { return chips[program]; }
};

/// Returns the time for which a graph's compute stream works.
sim::Time work_of(const sim::TaskGraph& graph);

/// A run was ended because its step certainly takes longer than RunOptions::longest.
class TakesLonger : public std::runtime_error {
public:
    explicit TakesLonger(sim::Time at_least)
        : std::runtime_error("the step takes longer"), at_least_(at_least) {}
    [[nodiscard]] sim::Time at_least() const { return at_least_; }

private:
    sim::Time at_least_;
};

struct RunOptions {
    bool reuse = true;                ///< play repeating layers once (sim/executor/executor.h)
    Watch* watch = nullptr;           ///< notified of the run's progress
    sim::Observer* beside = nullptr;  ///< notified of all events
    bool partners = false;            ///< keep StepRun::partners
    /// Throws TakesLonger as soon as the step cannot end by this time. Two lower bounds hold. A
    /// chip computes one thing at a time, none of it faster than alone: all of its remaining
    /// compute follows its last computation. A link does not exceed its rate: all of its remaining
    /// bytes follow.
    sim::Time longest = sim::Time::max();
    /// For a step of one program, by operation: a lower bound of the time from the operation's
    /// first start on any chip to the step's end.
    std::span<const sim::Time> times_left{};
};

StepRun run_step(const LoweredStep& step, const RunOptions& options = {});

}  // namespace podsim::scenarios
