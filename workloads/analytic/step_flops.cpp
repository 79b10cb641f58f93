#include "workloads/analytic/step_flops.h"

#include <map>
#include <tuple>

namespace podsim::workloads {

sim::Flops PassFlops::total() const {
    sim::Flops sum;
    for (const sim::Flops flops : by_pass) {
        sum += flops;
    }
    return sum;
}

PassFlops flops_by_pass(const StepProgram& program) {
    PassFlops sums;
    for (const Op& op : program.ops) {
        if (const auto* work = std::get_if<Compute>(&op.work)) {
            sums.by_pass[static_cast<std::size_t>(op.pass)] += work->flops;
        }
    }
    return sums;
}

namespace {

/// What recomputation executes on a chip, of the mean of all programs, for the tokens that there are: experts that are
/// padded, or do the work of the fullest, count with the mean load.
sim::Flops mean_recomputed(const ModelSpec& model, const TrainingPlan& plan,
                           const StepPrograms& programs) {
    if (plan.capacity_factor > 1 || plan.expert_imbalance > 1) {
        TrainingPlan mean = plan;
        mean.capacity_factor = mean.expert_imbalance = 1;
        return mean_recomputed(model, mean, build_stages(model, mean));
    }
    sim::Flops sum;
    for (const StepProgram& program : programs.programs) {
        sum += flops_by_pass(program).of(Pass::recompute);
    }
    return sum / static_cast<double>(programs.programs.size());
}

}  // namespace

StepFlops step_flops(const ModelSpec& model, const TrainingPlan& plan, const StepPrograms& programs,
                     FlopRule rule) {
    const ParameterCount count = count_parameters(model);
    const double outside =
        plan.layers_only ? 6 * static_cast<double>(count.total - count.layers) : 0;
    const double tokens = static_cast<double>(plan.tokens) / (plan.forward_only ? 3 : 1);
    const FlopsPerToken executed = training_flops_per_token(model, plan.sequence, plan.causal);
    const double counted = rule == FlopRule::executed ? executed.total()
                           : rule == FlopRule::parameters
                               ? executed.parameters
                               : training_flops_per_token(model, plan.sequence, false).total();
    StepFlops flops;
    flops.model = sim::Flops(tokens * (counted - outside));
    flops.hardware =
        sim::Flops(tokens * (executed.total() - outside)) +
        mean_recomputed(model, plan, programs) * (chips(plan) * occupancy(plan).occupied);
    return flops;
}

std::vector<CollectiveBytes> collective_bytes(const StepProgram& program) {
    std::map<std::tuple<int, Pass, Purpose>, sim::Bytes> sums;
    for (const Op& op : program.ops) {
        if (const auto* collective = std::get_if<Collective>(&op.work)) {
            const bool twice = collective->operation == collectives::Operation::all_reduce;
            sums[{op.layer, op.pass, collective->purpose}] += collective->bytes * (twice ? 2 : 1);
        }
    }
    std::vector<CollectiveBytes> rows;
    rows.reserve(sums.size());
    for (const auto& [key, bytes] : sums) {
        rows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), bytes});
    }
    return rows;
}

}  // namespace podsim::workloads
