// Cache for steps that are simulated in sequence or in parallel: the operations of a plan, and the
// caches of known_collectives.h. No result depends on the cache's contents, or on which step filled
// it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "scenarios/src/simulate/known_collectives.h"
#include "scenarios/src/simulate/step_programs.h"
#include "sim/base/quantity.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {

/// Cache of built steps; thread-safe.
class StepMemory {
public:
    /// Returns the step built from a model and a plan with this much usable memory. Calls `build`
    /// if it is not among the last few.
    std::shared_ptr<const BuiltStep> programs(const workloads::ModelSpec& model,
                                              const workloads::TrainingPlan& plan,
                                              sim::Bytes usable,
                                              const std::function<BuiltStep()>& build);

    [[nodiscard]] CollectivesOfThreads& collectives() { return collectives_; }

private:
    struct Built {
        workloads::ModelSpec model;
        workloads::TrainingPlan plan;  ///< as requested
        sim::Bytes usable;
        std::shared_ptr<const BuiltStep> step;
    };

    std::mutex building_;
    std::deque<Built> built_;  ///< the last few
    CollectivesOfThreads collectives_;
};

}  // namespace podsim::scenarios
