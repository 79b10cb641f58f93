#include "workloads/builder/weight_sharding.h"

#include <fmt/format.h>

namespace podsim::workloads {

WeightSharding::WeightSharding(const ModelSpec& model, const TrainingPlan& plan)
    : groups_(plan.overlap.weights),
      tensor_ways_(plan.ways.of_matrix()),
      experts_(plan.ways.expert),
      expert_ways_(static_cast<double>(plan.ways.fsdp) * plan.ways.context),
      dense_ways_(expert_ways_ * plan.ways.expert) {
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        layers_.push_back(layer_weights(model, layer_kind(model, layer)));
    }
    if (plan.ways.fsdp > 1) {
        expert_axes_.emplace_back("fsdp");
    }
    if (plan.ways.context > 1) {
        expert_axes_.emplace_back("context");
    }
    dense_axes_ = expert_axes_;
    if (plan.ways.expert > 1) {
        dense_axes_.emplace_back("expert");
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
