#include "scenarios/served/server_memory.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "scenarios/served/simulated_step_times.h"
#include "scenarios/spec/training_step.h"
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

/// Of every stage's chip, what a sequence of so many tokens takes on the mean of all parts of the cache.
std::vector<sim::Bytes> of_sequence(const Scenario& scenario, std::int64_t tokens) {
    workloads::TrainingPlan plan = scenario.step().plan;
    // As many sequences as there are members that hold different ones, or tokens of each.
    const std::int64_t sequences =
        ways_with(&workloads::PlanAxis::splits_batch, plan.ways) * plan.ways.cache;
    workloads::Inference& inference = plan.inference.value();
    inference.runs = {{sequences, 1, tokens - 1, 1}};
    plan.batch.microbatches = 1;
    plan.batch.tokens = inference.tokens();
    plan.batch.sequence = 1;
    std::vector<sim::Bytes> taken;
    for (const workloads::StepProgram& program :
         workloads::build_stages(scenario.step().model, plan).programs) {
        taken.push_back(
            workloads::peak_in_program_order(program).of(workloads::MemoryClass::kv_cache) /
            static_cast<double>(sequences));
    }
    return taken;
}

sim::Bytes of_token(const Scenario& scenario) {
    return std::ranges::max(of_sequence(scenario, 1));
}

}  // namespace

std::int64_t cached_tokens_that_fit(const Scenario& scenario, std::span<const StepShape> steps,
                                    double share) {
    sim::Bytes most;
    for (const StepShape& step : steps) {
        most = std::max(most, without_cache(scenario, step));
    }
    const double left = scenario.hardware.chip.usable_hbm().value() * share - most.value();
    return left <= 0 ? 0 : static_cast<std::int64_t>(std::floor(left / of_token(scenario).value()));
}

KeptTokens kept_on_chips(const Scenario& scenario) {
    const std::int64_t window = scenario.step().model.window;
    if (window == 0) {
        return {};
    }
    const std::vector<sim::Bytes> full = of_sequence(scenario, window);
    const std::vector<sim::Bytes> twice = of_sequence(scenario, 2 * window);
    sim::Bytes most;
    for (std::size_t stage = 0; stage < full.size(); ++stage) {
        most = std::max(most, twice[stage] - full[stage]);
    }
    return {.window = window, .beyond = most / static_cast<double>(window) / of_token(scenario)};
}

}  // namespace podsim::scenarios
