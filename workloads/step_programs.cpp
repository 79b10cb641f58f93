// The programs of all stages and members of unequal work, and what they need together.
#include <algorithm>

#include "workloads/memory.h"
#include "workloads/plan.h"

namespace podsim::workloads {
namespace {

/// In the order of StepPrograms.
std::vector<Ranks> ranks_of_programs(const ModelSpec& model, const TrainingPlan& plan) {
    std::vector<Ranks> all;
    for (int stage = 0; stage < plan.pipeline; ++stage) {
        for (int context = 0; context < (uneven_context(plan, model) ? plan.context : 1);
             ++context) {
            for (int expert = 0; expert < (uneven_experts(plan) ? plan.expert : 1); ++expert) {
                all.push_back({stage, context, expert});
            }
        }
    }
    return all;
}

}  // namespace

StepPrograms build_stages(const ModelSpec& model, const TrainingPlan& plan) {
    StepPrograms steps;
    steps.stages = static_cast<std::size_t>(plan.pipeline);
    steps.axes.emplace_back("pipeline");
    if (uneven_context(plan, model)) {
        steps.axes.emplace_back("context");
    }
    if (uneven_experts(plan)) {
        steps.axes.emplace_back("expert");
    }
    for (const Ranks& ranks : ranks_of_programs(model, plan)) {
        steps.programs.push_back(build_step(model, plan, ranks));
    }
    return steps;
}

sim::Bytes peak_of_stages(const ModelSpec& model, const TrainingPlan& plan) {
    sim::Bytes most;
    for (const Ranks& ranks : ranks_of_programs(model, plan)) {
        most = std::max(most, peak_in_program_order(build_step(model, plan, ranks)).total);
    }
    return most;
}

int prefetch_that_fits(const ModelSpec& model, const TrainingPlan& plan, sim::Bytes capacity) {
    // Beyond the number of uses a further look ahead changes nothing.
    const std::int64_t uses = (2 * model.layers + 2) * plan.microbatches;
    TrainingPlan trial = plan;
    trial.prefetch_layers = static_cast<int>(std::min<std::int64_t>(plan.prefetch_layers, uses));
    while (trial.prefetch_layers > 0 && peak_of_stages(model, trial) > capacity) {
        --trial.prefetch_layers;
    }
    return trial.prefetch_layers;
}

}  // namespace podsim::workloads
