// What steps that are simulated one after the other, or side by side, need find only once: the operations of a plan, and what
// known_collectives.h keeps. No result depends on what is known, or on who found it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "scenarios/lower/known_collectives.h"
#include "scenarios/simulate/step_programs.h"
#include "sim/base/quantity.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {

/// May be used by several threads at once.
class StepMemory {
public:
    /// What a model and a plan are built to where so much memory may be used; `build` makes it where it is not among the last few.
    std::shared_ptr<const BuiltStep> programs(const workloads::ModelSpec& model,
                                              const workloads::TrainingPlan& plan,
                                              sim::Bytes usable,
                                              const std::function<BuiltStep()>& build);

    [[nodiscard]] CollectivesOfThreads& collectives() { return collectives_; }

private:
    struct Built {
        workloads::ModelSpec model;
        workloads::TrainingPlan plan;  ///< as it was asked for
        sim::Bytes usable;
        std::shared_ptr<const BuiltStep> step;
    };

    std::mutex building_;
    std::deque<Built> built_;  ///< the last few
    CollectivesOfThreads collectives_;
};

}  // namespace podsim::scenarios
