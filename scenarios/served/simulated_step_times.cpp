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

/// `total` in equal parts of `count`, the remainder one each on the first.
std::int64_t part(std::int64_t total, std::int64_t count, std::int64_t place) {
    return total / count + (place < total % count ? 1 : 0);
}

CachedRun decode_of(const StepShape& shape) {
    const double mean = static_cast<double>(shape.decode_cached) /
                        static_cast<double>(std::max<std::int64_t>(shape.decoding, 1));
    return {shape.decoding, shape.decode_tokens, std::llround(mean), shape.decode_tokens};
}

}  // namespace

std::vector<CachedRun> runs_of(const StepShape& shape) {
    std::vector<CachedRun> runs;
    if (shape.decoding > 0) {
        runs.push_back(decode_of(shape));
    }
    if (shape.padding > 0) {
        runs.push_back({shape.padding, 1, 0, 1, true});
    }
    for (std::int64_t i = 0; i < shape.prefilling; ++i) {
        const CachedRun one{1, part(shape.prefill_tokens, shape.prefilling, i),
                            part(shape.prefill_cached, shape.prefilling, i),
                            i < shape.finishing ? 1 : 0};
        if (one.fresh == 0) {
            continue;
        }
        CachedRun* const last = runs.empty() ? nullptr : &runs.back();
        if (last != nullptr && last->fresh == one.fresh && last->cached == one.cached &&
            last->logits == one.logits && !last->padding && (i > 0 || shape.decoding == 0)) {
            ++last->sequences;
        } else {
            runs.push_back(one);
        }
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
