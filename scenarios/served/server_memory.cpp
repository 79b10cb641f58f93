#include "scenarios/served/server_memory.h"

#include <algorithm>
#include <cmath>

#include "scenarios/served/simulated_step_times.h"
#include "scenarios/spec/training_step.h"
#include "workloads/models/kv_cache.h"
#include "workloads/plan/axes.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

/// The fullest chip's peak without its cache.
sim::Bytes without_cache(const Scenario& scenario, const StepShape& step) {
    workloads::TrainingPlan plan = scenario.step().plan;
    workloads::Inference& inference = plan.inference.value();
    inference.runs = runs_of(step);
    plan.batch.tokens = inference.tokens();
    plan.batch.sequence = inference.runs.size() == 1 ? inference.runs.front().fresh : 1;
    sim::Bytes most;
    for (const workloads::StepProgram& program :
         workloads::build_stages(scenario.step().model, plan).programs) {
        const workloads::MemoryPeak peak = workloads::peak_in_program_order(program);
        most = std::max(most, peak.total - peak.of(workloads::MemoryClass::kv_cache));
    }
    return most;
}

/// What one token of a sequence takes of the fullest chip.
sim::Bytes of_token_on_chip(const Scenario& scenario) {
    workloads::TrainingPlan plan = scenario.step().plan;
    const std::int64_t shards = ways_with(&workloads::PlanAxis::splits_batch, plan.ways);
    const auto members = static_cast<std::int64_t>(plan.ways.cache);
    // As many sequences, or tokens, as there are members that hold different ones.
    workloads::Inference& inference = plan.inference.value();
    inference.runs = {{shards * members, members, 0, 1}};
    plan.batch.microbatches = 1;
    plan.batch.tokens = inference.tokens();
    plan.batch.sequence = members;
    sim::Bytes most;
    for (const workloads::StepProgram& program :
         workloads::build_stages(scenario.step().model, plan).programs) {
        most = std::max(
            most, workloads::peak_in_program_order(program).of(workloads::MemoryClass::kv_cache));
    }
    return most / static_cast<double>(shards * members * members);
}

}  // namespace

std::int64_t cached_tokens_that_fit(const Scenario& scenario, std::span<const StepShape> steps,
                                    double share) {
    sim::Bytes most;
    for (const StepShape& step : steps) {
        most = std::max(most, without_cache(scenario, step));
    }
    const double left = scenario.hardware.chip.usable_hbm().value() * share - most.value();
    return left <= 0
               ? 0
               : static_cast<std::int64_t>(std::floor(left / of_token_on_chip(scenario).value()));
}

sim::Bytes cache_of_token(const Scenario& scenario) {
    return workloads::cache_bytes(scenario.step().model, 1,
                                  scenario.step().plan.inference->cache_element);
}

}  // namespace podsim::scenarios
