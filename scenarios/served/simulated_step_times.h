// Times of the steps of a serving loop, each simulated on the scenario's chips.
//
// A shape becomes runs of the step (workloads/plan/inference.h): the decoding sequences with the mean of their caches, rounded, those of
// full windows apart from the others; every prompt's part by itself, equal ones together; logits of the last token of those whose prompt
// ends. Attention of single tokens is linear in their caches, within a window and beyond it, so that the mean is what unequal ones take together.
#pragma once

#include <vector>

#include "scenarios/serve/step_times.h"
#include "scenarios/simulate/step_memory.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/watch/watch.h"
#include "workloads/plan/inference.h"

namespace podsim::scenarios {

/// The runs of a step. Empty for a step of nothing.
std::vector<workloads::CachedRun> runs_of(const StepShape& shape);

class SimulatedStepTimes final : public StepTimes {
public:
    /// Of a step of inference, whose own runs do not count. The host's time between steps is left to the loop. `watch`
    /// ends a step's simulation, and hears nothing of it.
    explicit SimulatedStepTimes(const Scenario& scenario, Watch* watch = nullptr);

    /// Throws sim::InputError, at the scenario's file and with the cause, where a step leaves the clock's range.
    sim::Time time_of(const StepShape& shape) override;

private:
    Scenario scenario_;
    QuietWatch watch_;
    StepMemory memory_;
};

}  // namespace podsim::scenarios
