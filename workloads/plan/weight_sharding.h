// The axes over which the weights of the model are split, gathered and reduced, and their groups.
//
// All weights are split over the T tensor ways, and those shards over fsdp x context. For all
// weights except the routed experts, the axis `expert` is one more of fsdp: they are gathered and
// reduced over fsdp x context x expert. A chip's experts (1 / expert of a layer's) are gathered and
// reduced over fsdp x context, in operations of their own; without expert ways they go with the
// rest. Axes of one member are left out of a group. Parameters count with their group, norm vectors
// included, all split over T (the norms, about 1e-5 of a layer, would in fact be whole on every
// tensor rank).
#pragma once

#include <string>
#include <vector>

#include "workloads/models/weights.h"
#include "workloads/plan/ways.h"

namespace podsim::workloads {

class WeightSharding {
public:
    WeightSharding(const ModelSpec& model, const Ways& ways, WeightGroups groups,
                   bool inference = false);

    using Axes = std::vector<std::string>;
    [[nodiscard]] const Axes& dense_axes() const { return dense_axes_; }
    [[nodiscard]] const Axes& expert_axes() const { return expert_axes_; }
    /// The number of members of those axes.
    [[nodiscard]] double dense_ways() const { return dense_ways_; }
    [[nodiscard]] double expert_ways() const { return expert_ways_; }

    /// Returns a group as it is split over expert: without expert ways, experts are like all other
    /// weights.
    [[nodiscard]] Weights split(const Weights& weights) const {
        return experts_ > 1 ? weights : Weights{weights.total(), 0};
    }
    /// Returns the bytes of a group's dense weights and experts on one tensor rank and one expert
    /// rank.
    [[nodiscard]] Weights bytes(const Weights& weights, double element) const;
    /// Returns a chip's shard of a group's parameters, split over tensor, fsdp, context and expert.
    [[nodiscard]] double local(double parameters) const {
        return parameters / (tensor_ways_ * dense_ways_);
    }
    /// Returns the same if dense weights and experts are split apart, as in inference.
    [[nodiscard]] double local(const Weights& weights) const {
        const Weights parts = split(weights);
        return (parts.dense / dense_ways_ + parts.experts / (expert_ways_ * experts_)) /
               tensor_ways_;
    }

    [[nodiscard]] const LayerWeights& layer(int layer) const {
        return layers_[static_cast<std::size_t>(layer)];
    }
    /// Returns the group of a matrix, which is gathered and reduced together; the next returns a
    /// layer's weights of a group.
    [[nodiscard]] std::size_t group(Matrix matrix) const { return group_of(groups_, matrix); }
    [[nodiscard]] Weights of_group(int layer, std::size_t group) const;
    /// Returns `qkv `, `attention `, or nothing for a whole layer: before `weights` and
    /// `gradients`.
    [[nodiscard]] std::string label(std::size_t group) const;

private:
    const WeightGroups groups_;
    const double tensor_ways_;
    const double experts_;
    std::vector<LayerWeights> layers_;
    Axes expert_axes_;  ///< those of fsdp and context that have members
    Axes dense_axes_;   ///< those and expert
    double expert_ways_ = 1;
    double dense_ways_ = 1;
};

}  // namespace podsim::workloads
