#include "workloads/plan/weight_sharding.h"

#include <fmt/format.h>

#include "workloads/plan/axes.h"

namespace podsim::workloads {

WeightSharding::WeightSharding(const ModelSpec& model, const Ways& ways, WeightGroups groups,
                               bool inference)
    : groups_(groups),
      tensor_ways_(ways.of_matrix()),
      experts_(ways.expert),
      expert_axes_(axes_with(&PlanAxis::shares_experts, ways)),
      dense_axes_(axes_with(dense_weights_of(inference), ways)),
      expert_ways_(static_cast<double>(ways_with(&PlanAxis::shares_experts, ways))),
      dense_ways_(static_cast<double>(ways_with(dense_weights_of(inference), ways))) {
    for (std::int64_t layer = 0; layer < model.layers + model.mtp_layers; ++layer) {
        layers_.push_back(layer_weights(model, layer_kind(model, layer)));
    }
}

Weights WeightSharding::bytes(const Weights& weights, double element) const {
    const Weights parts = split(weights);
    const double of_way = element / tensor_ways_;
    return {parts.dense * of_way, parts.experts * of_way / experts_};
}

Weights WeightSharding::of_group(int layer, std::size_t group) const {
    return this->layer(layer).of_group(groups_, group);
}

std::string WeightSharding::label(std::size_t group) const {
    const std::string_view name = name_of_group(groups_, group);
    return name.empty() ? "" : fmt::format("{} ", name);
}

}  // namespace podsim::workloads
