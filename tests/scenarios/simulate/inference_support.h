// Steps of inference, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/scenarios/simulate/step_support.h"
#include "workloads/plan/axes.h"

namespace podsim::scenarios::samples {

/// Returns a step of inference with weights and caches of one byte.
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

inline workloads::ModelSpec small_with_windows() {
    workloads::ModelSpec model = small_model(4);
    model.window = 100;
    model.global_every = 2;
    return model;
}

inline workloads::ModelSpec small_with_latents() {
    workloads::ModelSpec model = small_model(3);
    model.kv_heads = model.heads;
    model.head_dim = 96;
    model.latent = {.q_rank = 256, .kv_rank = 128, .rope_dim = 32, .value_dim = 64};
    return model;
}

}  // namespace podsim::scenarios::samples
