// Changes of a step's plan that are worth a try, as settings of the command line.
#pragma once

#include <string>
#include <vector>

#include "scenarios/simulate/step_result.h"
#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

struct PlanChange {
    std::string kind;              ///< of which the best is said: `remat`, `mesh`, `overlap`, ...
    std::vector<std::string> set;  ///< `training.remat=none`, as --set takes it
    std::string meaning;           ///< for people: `nothing is computed twice`
};

/// Those of a training step that leave batch, numbers and chips as they are: more of the forward pass kept, and of named tensors
/// each saved or offloaded; tensor collectives
/// between parts of their matmuls; gathers a layer further ahead; operations ordered to hide latency; layers unrolled; attention's gradients
/// by one kernel, and its blocks larger; of a pipeline more microbatches and the other schedules; zig-zag parts in place of plain ones. Where the step may not fit (it does not, or is tight) also what takes less memory: less kept, gathers
/// by matmul and none ahead. None of a step of inference. Some may turn out not to be allowed.
std::vector<PlanChange> plan_changes(const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
