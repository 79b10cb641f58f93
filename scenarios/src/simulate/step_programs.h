// The operations of a scenario's step, as simulated and as counted by estimates.
#pragma once

#include <memory>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/simulate/run_memory.h"
#include "workloads/plan/plan.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// A step's operations grow linearly with its microbatches, once these fill the pipeline:
/// operations = fixed + microbatches x of_each.
struct StepSize {
    double fixed = 0;
    double of_each = 0;
    int microbatches = 1;

    [[nodiscard]] double operations() const { return fixed + of_each * microbatches; }
    [[nodiscard]] double bytes() const {
        return kBytesOfProcess + kBytesOfOperation * operations();
    }
};

/// Returns the size of a training step of many microbatches, from the programs of two steps with
/// few. For other steps, which are built as quickly as estimated, returns no operations.
StepSize size_of_step(const Scenario& scenario);

/// Throws sim::InputError, with a size that fits, if the step's programs take more than the process
/// may use (memory_limit).
void refuse_beyond_memory(const Scenario& scenario);

/// The distance by which weights may be gathered ahead.
enum class LookAhead {
    /// As requested, or the longest for which the account is not certain that memory overflows.
    that_fits,
    asked,  ///< as requested, whatever the memory
};

struct BuiltStep {
    workloads::TrainingPlan plan;  ///< with the weights that are gathered ahead
    workloads::StepPrograms programs;
    /// The look-ahead that the plan requests, no longer than the step.
    double asked_prefetch = 0;
};

/// Builds the operations in their order of issue: that for `compiled_for` if it is given
/// (overlap.schedule: latency_hiding). Throws sim::InputError at the scenario's file if they cannot
/// be ordered, Stopped if the watch ends it.
BuiltStep build_step_of(const Scenario& scenario, const IdealHardware* compiled_for = nullptr,
                        Watch* watch = nullptr);

class StepMemory;
/// The same, with `memory` as cache.
std::shared_ptr<const BuiltStep> build_step_of(const Scenario& scenario, StepMemory& memory,
                                               const IdealHardware* compiled_for = nullptr,
                                               Watch* watch = nullptr,
                                               LookAhead look_ahead = LookAhead::that_fits);

}  // namespace podsim::scenarios
