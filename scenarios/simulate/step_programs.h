// The operations of a scenario's step, as they are simulated and as estimates count them.
#pragma once

#include <memory>

#include "scenarios/spec/scenario.h"
#include "scenarios/watch/watch.h"
#include "workloads/plan/plan.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// How far weights may be gathered ahead.
enum class LookAhead {
    that_fits,  ///< as asked for, or the most of it with which the account is not sure that memory overflows
    asked,  ///< whatever the memory
};

struct BuiltStep {
    workloads::TrainingPlan plan;  ///< with the weights that are gathered ahead
    workloads::StepPrograms programs;
    double asked_prefetch =
        0;  ///< the look-ahead of the plan as it was asked for, no longer than the step
};

/// In the order in which they are issued: that of `compiled_for` where it is given (overlap.schedule: latency_hiding). Throws
/// sim::InputError at the scenario's file where they cannot be ordered, Stopped where the watch ends it.
BuiltStep build_step_of(const Scenario& scenario, const IdealHardware* compiled_for = nullptr,
                        Watch* watch = nullptr);

class StepMemory;
/// The same, as `memory` may know it.
std::shared_ptr<const BuiltStep> build_step_of(const Scenario& scenario, StepMemory& memory,
                                               const IdealHardware* compiled_for = nullptr,
                                               Watch* watch = nullptr,
                                               LookAhead look_ahead = LookAhead::that_fits);

}  // namespace podsim::scenarios
