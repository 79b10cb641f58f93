#include "scenarios/advice/serving_fit.h"

#include <algorithm>

#include "scenarios/spec/training_step.h"
#include "workloads/plan/axes.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {

namespace {

std::int64_t shards_of(const workloads::TrainingPlan& plan) {
    return ways_with(&workloads::PlanAxis::splits_batch, plan.ways) * plan.batch.microbatches;
}

}  // namespace

std::int64_t in_whole_shards(const Scenario& scenario, std::int64_t sequences) {
    const std::int64_t shards = shards_of(scenario.step().plan);
    return (sequences + shards - 1) / shards * shards;
}

sim::Bytes peak_with_batch(const Scenario& scenario, std::int64_t sequences) {
    workloads::TrainingPlan plan = scenario.step().plan;
    workloads::Inference& inference = plan.inference.value();
    inference.runs.front().sequences = sequences;
    plan.batch.tokens = inference.tokens();
    plan.overlap.prefetch_layers = 0;  // a step gathers less far ahead before it does not fit
    return workloads::peak_of_stages(scenario.step().model, plan);
}

std::int64_t largest_batch(const Scenario& scenario) {
    const workloads::TrainingPlan& plan = scenario.step().plan;
    const sim::Bytes capacity = scenario.hardware.chip.usable_hbm();
    const std::int64_t shards = shards_of(plan);
    const auto fits = [&](std::int64_t of_shard) {
        return peak_with_batch(scenario, of_shard * shards) <= capacity;
    };
    if (!fits(1)) {
        return 0;
    }
    std::int64_t most = 1;
    constexpr std::int64_t kEnough = 1LL << 30;
    while (most < kEnough && fits(2 * most)) {
        most *= 2;
    }
    for (std::int64_t step = most / 2; step > 0; step /= 2) {
        most += fits(most + step) ? step : 0;
    }
    return most * shards;
}

}  // namespace podsim::scenarios
