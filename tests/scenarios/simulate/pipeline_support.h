// Scenarios of pipelines, for their tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios::samples {

inline constexpr std::int64_t kPipelineLayers = 16;

inline Scenario pipeline_on(topology::Point shape,
                            const std::vector<std::pair<std::string, std::string>>& mesh,
                            std::int64_t sequences, workloads::PipelineSchedule schedule,
                            int microbatches, int chunks = 1) {
    Scenario scenario =
        make_scenario("v5p", shape, small_model(kPipelineLayers), mesh, sequences, 512);
    scenario.step().plan.ways.pipeline = scenario.step().mesh.size("pipeline");
    scenario.step().plan.pipeline.schedule = schedule;
    scenario.step().plan.batch.microbatches = microbatches;
    scenario.step().plan.pipeline.chunks = chunks;
    return scenario;
}

/// Returns a model with latent attention, and experts in every layer.
inline workloads::ModelSpec latent_experts(std::int64_t layers) {
    workloads::ModelSpec model = small_model(layers);
    model.kv_heads = model.heads;
    model.latent = {.q_rank = 384, .kv_rank = 256, .rope_dim = 32, .value_dim = 64};
    model.experts = {.count = 8, .per_token = 2, .shared = 1, .d_ff = 1024};
    return model;
}

}  // namespace podsim::scenarios::samples
