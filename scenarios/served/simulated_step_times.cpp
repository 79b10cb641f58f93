#include "scenarios/served/simulated_step_times.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "scenarios/simulate/simulate.h"
#include "scenarios/simulate/within_clock.h"
#include "scenarios/spec/training_step.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

using workloads::CachedRun;

/// Sequences that decode behind caches of so many tokens in all.
CachedRun decodes(const StepShape& shape, std::int64_t sequences, std::int64_t cached) {
    const double mean = static_cast<double>(cached) / static_cast<double>(sequences);
    return {sequences, shape.decode_tokens, std::llround(mean), shape.decode_tokens};
}

}  // namespace

std::vector<CachedRun> runs_of(const StepShape& shape) {
    std::vector<CachedRun> runs;
    if (shape.full > 0) {
        runs.push_back(decodes(shape, shape.full, shape.full_cached));
    }
    if (shape.decoding > shape.full) {
        runs.push_back(
            decodes(shape, shape.decoding - shape.full, shape.decode_cached - shape.full_cached));
    }
    if (shape.padding > 0) {
        runs.push_back({shape.padding, 1, 0, 1, true});
    }
    const PromptPart* before = nullptr;
    for (const PromptPart& part : shape.prompts) {
        if (part.tokens == 0) {
            continue;
        }
        if (before != nullptr && *before == part) {
            ++runs.back().sequences;
        } else {
            runs.push_back({1, part.tokens, part.cached, part.ends ? 1 : 0});
        }
        before = &part;
    }
    return runs;
}

SimulatedStepTimes::SimulatedStepTimes(const Scenario& scenario, Watch* watch)
    : scenario_(scenario), watch_(watch) {
    scenario_.hardware.efficiency.host_s = 0;
}

sim::Time SimulatedStepTimes::time_of(const StepShape& shape) {
    std::vector<CachedRun> runs = runs_of(shape);
    if (runs.empty()) {
        return {};
    }
    Scenario step = scenario_;
    workloads::TrainingPlan& plan = step.step().plan;
    plan.inference->runs = std::move(runs);
    plan.batch.tokens = plan.inference->tokens();
    plan.batch.sequence = plan.inference->runs.size() == 1 ? plan.inference->runs.front().fresh : 1;
    step.serving.reset();
    try {
        return simulate_step(step, Fold::automatic,
                             {.explain = false, .watch = &watch_, .memory = &memory_})
            .step_time;
    } catch (const sim::TimeOverflow& error) {
        const sim::InputError cause = clock_error_of(step, error);
        throw sim::InputError(
            fmt::format("a step of {} tokens: {}", plan.inference->tokens(), cause.problem()),
            cause.remedy(), cause.mark());
    }
}

}  // namespace podsim::scenarios
