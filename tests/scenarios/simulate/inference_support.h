// Steps of inference, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/scenarios/simulate/step_support.h"
#include "workloads/plan/axes.h"

namespace podsim::scenarios::samples {

/// Weights and caches of one byte.
inline Scenario inference(const std::string& chip, topology::Point shape,
                          const workloads::ModelSpec& model, const Mesh& mesh,
                          std::vector<workloads::CachedRun> runs,
                          workloads::CacheSplit split = workloads::CacheSplit::batch) {
    Scenario scenario = make_scenario(chip, shape, model, mesh, 1, 1);
    workloads::TrainingPlan& plan = scenario.step().plan;
    plan.ways = workloads::ways_of(scenario.step().mesh);
    plan.forward_only = true;
    plan.inference = workloads::Inference{std::move(runs), 1, split};
    plan.batch.tokens = plan.inference->tokens();
    plan.batch.sequence = plan.inference->runs.size() == 1 ? plan.inference->runs.front().fresh : 1;
    plan.precision.parameters = 1;
    plan.precision.scaling = workloads::Scaling::fixed;
    plan.precision.stored_gather = true;
    plan.attention.vmem = scenario.hardware.chip.vmem.value;
    return scenario;
}

}  // namespace podsim::scenarios::samples
