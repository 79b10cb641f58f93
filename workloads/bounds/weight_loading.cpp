#include "workloads/bounds/weight_loading.h"

#include <algorithm>
#include <utility>

#include "workloads/plan/axes.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {
namespace {

/// Returns the bytes of a weight as it is read: as its gather over these axes brings it,
/// or as it is stored.
double element(const TrainingPlan& plan, bool PlanAxis::*shares, double gathered, double stored) {
    return !axes_with(shares, plan.ways).empty() ? gathered
           : plan.zero > 0                       ? plan.precision.copy()
                                                 : stored;
}

}  // namespace

std::vector<std::string> WeightLoading::parts() const {
    std::vector<std::string> names;
    for (const auto& [loads, name] :
         {std::pair{forward, "forward"}, {backward, "backward"}, {unembedding, "unembedding"}}) {
        if (loads) {
            names.emplace_back(name);
        }
    }
    return names;
}

double matmuls_again(const ModelSpec& model, const Remat& remat, LayerKind kind, double experts) {
    const LayerParameters parameters = count_layer(model, kind);
    if (remat.policy == RematPolicy::block) {
        return static_cast<double>(parameters.attention + parameters.mlp) + experts;
    }
    const TensorSet kept = kept_tensors(remat);
    const auto out =
        static_cast<double>(model.heads * attention_sizes(model, kind).value_dim * model.d_model);
    const auto router = static_cast<double>(kind.experts ? model.experts.count * model.d_model : 0);
    const double mlp = static_cast<double>(parameters.mlp) + experts - router;
    const double branches = model.gated_mlp ? 2 : 1;
    const TensorSet again = read_backward(model, kind) - kept;
    // Only a norm reads the output of shared experts.
    const double down = !kind.experts || norms_outputs(model) ? mlp : experts;
    return (kept.has(LayerTensor::qkv) ? 0 : static_cast<double>(parameters.attention) - out) +
           (again.has(LayerTensor::out) ? out : 0) +
           (kept.has(LayerTensor::gate_up) ? 0 : router + mlp * branches / (branches + 1)) +
           (again.has(LayerTensor::output) ? down / (branches + 1) : 0);
}

LoadedWeights weights_of_layer(const ModelSpec& model, const TrainingPlan& plan, LayerKind kind,
                               double tokens) {
    const LayerParameters parameters = count_layer(model, kind);
    const auto dense = static_cast<double>(parameters.attention + parameters.mlp);
    const auto experts = static_cast<double>(parameters.experts);
    double touched = 0;
    if (kind.experts) {
        const double held = static_cast<double>(model.experts.count) / plan.ways.expert;
        touched =
            experts * std::min(1.0, tokens * static_cast<double>(model.experts.per_token) / held);
    }
    const double ways = plan.ways.of_matrix();
    const double of_dense = element(plan, &PlanAxis::shares_weights, plan.precision.weights(),
                                    plan.precision.parameters) /
                            ways;
    const double of_experts =
        element(plan, &PlanAxis::shares_experts, plan.precision.expert_weights(),
                plan.precision.stored_experts()) /
        (ways * plan.ways.expert);
    const double dense_again = matmuls_again(model, plan.remat, kind, 0);
    const double experts_again = matmuls_again(model, plan.remat, kind, touched) - dense_again;
    const double read = dense * of_dense + touched * of_experts;
    const double again = dense_again * of_dense + experts_again * of_experts;
    const double gradients = (dense + experts / plan.ways.expert) / ways * plan.precision.gradients;
    return {sim::Bytes(read), sim::Bytes(read + again + gradients)};
}

LoadedWeights weights_of_table(const ModelSpec& model, const TrainingPlan& plan) {
    const double table =
        static_cast<double>(count_parameters(model).embedding) / plan.ways.of_matrix();
    const double read =
        table * element(plan, &PlanAxis::shares_weights, plan.precision.plain_weights(),
                        plan.precision.stored_tables());
    return {sim::Bytes(read), sim::Bytes(read + table * plan.precision.gradients)};
}

}  // namespace podsim::workloads
