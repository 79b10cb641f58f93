// Running a lowered step, and what its chips did when.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/lower/lower_step.h"
#include "scenarios/watch/watch.h"
#include "sim/base/time.h"
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

    /// The chip of that program.
    [[nodiscard]] const ChipRun& reported() const { return chips[program]; }
};

/// The time that a graph's compute stream works.
sim::Time work_of(const sim::TaskGraph& graph);

/// With `reuse`, repeating layers are played once (sim/executor/executor.h). `watch` sees how far the run is.
StepRun run_step(const LoweredStep& step, bool reuse = true, Watch* watch = nullptr);

}  // namespace podsim::scenarios
