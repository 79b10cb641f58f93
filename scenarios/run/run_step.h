// Running a lowered step, and what its chips did when.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "scenarios/lower/lower_step.h"
#include "scenarios/watch/watch.h"
#include "sim/base/time.h"
#include "sim/workload/observer.h"
#include "sim/workload/result.h"

namespace podsim::scenarios {

/// What one chip did, by operation of its program.
struct ChipRun {
    int representative = 0;
    std::vector<sim::Time> began;
    /// Of a handover that is sent, when the last byte arrived: until then the sender holds it.
    std::vector<sim::Time> ended;
    /// When the others were ready: of a handover that is received, when its sender let go; of a collective over
    /// an axis of unequal work, when the last member of the chip's group began (of a ring step the one before it).
    /// Else 0.
    std::vector<sim::Time> sent;
};

struct StepRun {
    sim::ExecutionResult result;
    /// That of the chip that ended last (the first such); of its stage's members, of the one that computes longest.
    std::size_t program = 0;
    std::vector<ChipRun> chips;  ///< of each program, the chip that ended last (the first such)
    /// Where they were asked for, of each program of a pipeline: of the stage of `program` the chips above, of other stages those at the same
    /// ranks of all other axes, with which these exchange messages (partners.h). Empty where no message leads to a stage.
    std::vector<ChipRun> partners{};

    /// The chip of that program.
    [[nodiscard]] const ChipRun& reported() const { return chips[program]; }
};

/// The time that a graph's compute stream works.
sim::Time work_of(const sim::TaskGraph& graph);

/// A run was ended because its step surely takes longer than was asked for.
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
    Watch* watch = nullptr;           ///< sees how far the run is
    sim::Observer* beside = nullptr;  ///< hears of all that happens
    bool partners = false;            ///< keep StepRun::partners
    /// Throws TakesLonger as soon as the step cannot end by then. A chip computes one thing at a time, none of it in less than it takes
    /// alone, so that a step ends no sooner than, behind the last computation of a chip, all that this chip has still to compute; and a
    /// link carries no more than its rate lets it, so that it ends no sooner than what a link has still to carry.
    sim::Time longest = sim::Time::max();
    /// Of a step of one program, by operation: a step ends no sooner than so long after the first of its chips begins that operation.
    std::span<const sim::Time> times_left{};
};

StepRun run_step(const LoweredStep& step, const RunOptions& options = {});

}  // namespace podsim::scenarios
