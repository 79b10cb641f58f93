// The programs of all stages and members of unequal work, and what they need together.
#include <algorithm>
#include <cmath>

#include "workloads/plan/plan.h"
#include "workloads/program/memory_peak.h"

namespace podsim::workloads {
namespace {

constexpr double kPart = 0.25;  // of a layer, by which the prefetch is lowered

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

double prefetch_that_fits(const ModelSpec& model, const TrainingPlan& plan, sim::Bytes capacity) {
    // Beyond the number of uses a further look ahead changes nothing.
    const auto uses = static_cast<double>((2 * model.layers + 2) * plan.microbatches);
    const double most = std::min(plan.prefetch_layers, uses);
    TrainingPlan trial = plan;
    const auto fits = [&](double prefetch) {
        trial.prefetch_layers = prefetch;
        return peak_of_stages(model, trial) <= capacity;
    };
    double ahead = most;
    while (ahead > 0 && !fits(ahead)) {
        ahead = std::ceil(ahead) - 1;
    }
    if (plan.weights == WeightGroups::layer) {
        return ahead;
    }
    const double too_many = std::min(ahead + 1, most);
    for (double more = ahead + kPart; more < too_many && fits(more); more += kPart) {
        ahead = more;
    }
    return ahead;
}

}  // namespace podsim::workloads
