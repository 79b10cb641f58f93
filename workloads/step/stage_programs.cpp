// The programs of all stages and members of unequal work, and their common needs.
#include <algorithm>
#include <cmath>

#include "workloads/bounds/step_flops.h"
#include "workloads/models/model.h"
#include "workloads/plan/axis_names.h"
#include "workloads/plan/padding.h"
#include "workloads/plan/plan.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

constexpr double kPart = 0.25;  // fraction of a layer, by which the prefetch is lowered

/// Returns the longest fetch with which the plan fits, at most that of the plan;
/// otherwise the shortest.
double fetch_that_fits(const ModelSpec& model, TrainingPlan trial, sim::Bytes capacity,
                       const sim::StopCheck& check) {
    double& ahead = trial.overlap.fetch_layers;
    const double least = shortest_fetch(trial);
    while (ahead > least && peak_of_stages(model, trial, check) > capacity) {
        ahead = std::max(ahead - 1, least);
    }
    return ahead;
}

/// Returns the largest peak, in program order, of all programs.
sim::Bytes peak_of(const StepPrograms& programs) {
    sim::Bytes most;
    for (const StepProgram& program : programs.programs) {
        most = std::max(most, peak_in_program_order(program).total);
    }
    return most;
}

}  // namespace

double shortest_fetch(const TrainingPlan& plan) {
    const double asked = plan.overlap.fetch_layers;
    return plan.overlap.weights == WeightGroups::layer || plan.remat.names.offload == TensorSet{}
               ? asked
               : std::min(asked, kLeastFetch);
}

double longest_prefetch(const ModelSpec& model, const TrainingPlan& plan) {
    const auto uses = static_cast<double>((2 * model.layers + 2 + 6 * model.mtp_layers) *
                                          plan.batch.microbatches);
    return std::min(plan.overlap.prefetch_layers, uses);
}

std::vector<Ranks> ranks_of_programs(const ModelSpec& model, const TrainingPlan& plan) {
    std::vector<Ranks> all;
    for (int stage = 0; stage < plan.ways.pipeline; ++stage) {
        for (int context = 0; context < (uneven_context(plan, model) ? plan.ways.context : 1);
             ++context) {
            for (int expert = 0; expert < (plan.experts.uneven() ? plan.ways.expert : 1);
                 ++expert) {
                all.push_back({stage, context, expert});
            }
        }
    }
    return all;
}

StepPrograms build_stages(const ModelSpec& model, const TrainingPlan& plan,
                          const sim::StopCheck& check) {
    StepPrograms steps;
    steps.stages = static_cast<std::size_t>(plan.ways.pipeline);
    steps.axes.emplace_back(axis::pipeline);
    if (uneven_context(plan, model)) {
        steps.axes.emplace_back(axis::context);
    }
    if (plan.experts.uneven()) {
        steps.axes.emplace_back(axis::expert);
    }
    for (const Ranks& ranks : ranks_of_programs(model, plan)) {
        steps.programs.push_back(build_step(model, plan, ranks, check));
    }
    return steps;
}

sim::Bytes peak_of_stages(const ModelSpec& model, const TrainingPlan& plan,
                          const sim::StopCheck& check) {
    return peak_of(build_stages(model, plan, check));
}

StepPrograms build_stages_that_fit(const ModelSpec& model, TrainingPlan& plan, sim::Bytes capacity,
                                   const sim::StopCheck& check) {
    plan.overlap.prefetch_layers = longest_prefetch(model, plan);
    StepPrograms programs = build_stages(model, plan, check);
    if (peak_of(programs) <= capacity) {
        return programs;
    }
    plan.overlap.fetch_layers = fetch_that_fits(model, plan, capacity, check);
    plan.overlap.prefetch_layers = prefetch_that_fits(model, plan, capacity, check);
    return build_stages(model, plan, check);
}

sim::Flops mean_recomputed(const ModelSpec& model, const TrainingPlan& plan,
                           const StepPrograms& programs) {
    const bool dense = plan.moe.dense() || plan.moe.of_all();
    if (plan.experts.capacity_factor > 1 || plan.experts.imbalance > 1 || dense) {
        TrainingPlan mean = plan;
        mean.moe.matmul = dense ? ExpertMatmul::ideal : plan.moe.matmul;
        mean.experts.capacity_factor = mean.experts.imbalance = 1;
        return mean_recomputed(model, mean, build_stages(model, mean));
    }
    if (model.window > 0 && plan.ways.context > 1 && plan.attention.causal &&
        plan.attention.placement == Placement::zig_zag && !plan.overlap.context_steps) {
        TrainingPlan whole = plan;  // the chips of a sequence see unequal fractions of windows
        whole.ways.context = 1;
        return mean_recomputed(model, whole, build_stages(model, whole)) / plan.ways.context;
    }
    if (!plan.inference &&
        !paddings(model, plan.ways).empty()) {  // padded heads are not among the model's FLOPs
        TrainingPlan whole = plan;
        whole.ways.tensor = whole.ways.tensor_transpose = 1;
        whole.overlap.tensor_steps.reset();
        return mean_recomputed(model, whole, build_stages(model, whole)) / plan.ways.of_matrix();
    }
    sim::Flops sum;
    for (const StepProgram& program : programs.programs) {
        sum += flops_by_pass(program).of(Pass::recompute);
    }
    return sum / static_cast<double>(programs.programs.size());
}

double prefetch_that_fits(const ModelSpec& model, const TrainingPlan& plan, sim::Bytes capacity,
                          const sim::StopCheck& check) {
    const double most = longest_prefetch(model, plan);
    TrainingPlan trial = plan;
    const auto fits = [&](double prefetch) {
        trial.overlap.prefetch_layers = prefetch;
        return peak_of_stages(model, trial, check) <= capacity;
    };
    double ahead = most;
    while (ahead > 0 && !fits(ahead)) {
        ahead = std::ceil(ahead) - 1;
    }
    if (plan.overlap.weights == WeightGroups::layer) {
        return ahead;
    }
    const double too_many = std::min(ahead + 1, most);
    for (double more = ahead + kPart; more < too_many && fits(more); more += kPart) {
        ahead = more;
    }
    return ahead;
}

}  // namespace podsim::workloads
