// Changes of a step's plan that are worth a try, as settings of the command line.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/simulate/step_result.h"

namespace podsim::scenarios {

struct PlanChange {
    /// Kind, of which the report names the best change: `remat`, `mesh`, `overlap`, ...
    std::string kind;
    std::vector<std::string> set;  ///< `training.remat=none`, as --set takes it
    std::string meaning;           ///< for people: `nothing is computed twice`
};

/// Returns the changes of a training step that keep batch, numbers and chips:
///   more of the forward pass kept; each named tensor saved or offloaded;
///   tensor collectives between segments of their matmuls;
///   gathers a layer further ahead;
///   operations ordered to hide latency; layers unrolled;
///   attention's gradients by one kernel, and its blocks larger;
///   for a pipeline, more microbatches and the other schedules;
///   zig-zag placement instead of plain.
/// If the step may not fit (it does not, or is tight), also changes that take less memory: less
/// kept, gathers by matmul and none ahead. Returns none for a step of inference. Some may turn out
/// not to be allowed.
std::vector<PlanChange> plan_changes(const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
