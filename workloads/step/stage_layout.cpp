#include "workloads/step/stage_layout.h"

#include <fmt/format.h>

#include "workloads/plan/plan.h"

namespace podsim::workloads {

StageLayout::StageLayout(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks)
    : stage_(ranks.stage),
      stages_(plan.ways.pipeline),
      chunks_(plan.pipeline.chunks),
      layers_only_(plan.layers_only),
      forward_only_(plan.forward_only),
      tied_(model.tied_embeddings),
      order_(stage_order(plan, ranks.stage)),
      run_(static_cast<int>(model.layers) / (plan.ways.pipeline * plan.pipeline.chunks)) {
    const ParameterCount count = count_parameters(model);
    table_ = static_cast<double>(count.embedding);
    positions_ = static_cast<double>(count.positions);
    final_norm_ = static_cast<double>(count.final_norm);
    for (int layer = 0; layer < model.layers; ++layer) {
        kinds_.push_back(layer_kind(model, layer));
        layers_.push_back(layer_weights(model, kinds_.back()).total());
        if (plan.overlap.weights != WeightGroups::layer && !weight_order_.contains(kinds_.back())) {
            weight_order_[kinds_.back()] = weight_order(model, plan, ranks, layer);
        }
    }
}

Weights StageLayout::weights() const {
    Weights sum;
    for (int chunk = 0; chunk < chunks_; ++chunk) {
        for (int layer = first_layer(chunk); layer < end_of_layers(chunk); ++layer) {
            sum += layers_[static_cast<std::size_t>(layer)];
        }
    }
    if (layers_only_) {
        return sum;
    }
    const bool shared = tied_ && has_both_ends();
    sum.dense +=
        (first() ? table_ + positions_ : 0) + (last() ? final_norm_ + (shared ? 0 : table_) : 0);
    return sum;
}

double StageLayout::embedding_parameters() const {
    return table_ + positions_ + (tied_ && has_both_ends() ? final_norm_ : 0);
}

double StageLayout::unembedding_parameters() const {
    return table_ + final_norm_ + (tied_ && has_both_ends() ? positions_ : 0);
}

void StageLayout::add_layer_use(std::vector<WeightUse>& uses, int layer, Pass pass,
                                int microbatch) const {
    uses.push_back({fmt::format("layer {}", layer), layer, pass,
                    layers_[static_cast<std::size_t>(layer)], microbatch});
    if (const auto found = weight_order_.find(kind(layer)); found != weight_order_.end()) {
        uses.back().reads = pass == Pass::forward ? found->second.forward : found->second.backward;
    }
}

void StageLayout::add_end_use(std::vector<WeightUse>& uses, bool embedding, int microbatch) const {
    uses.push_back({embedding ? "embedding" : "unembedding",
                    -1,
                    Pass::forward,
                    {table_ + (embedding ? positions_ : final_norm_), 0},
                    microbatch});
}

std::vector<WeightUse> StageLayout::weight_uses() const {
    std::vector<WeightUse> uses;
    for (const PipelineUnit& unit : order_) {
        const int begin = first_layer(unit.chunk);
        const int end = end_of_layers(unit.chunk);
        if (unit.kind == PipelineUnit::Kind::forward) {
            if (embeds(unit.chunk)) {
                add_end_use(uses, true, unit.microbatch);
            }
            for (int layer = begin; layer < end; ++layer) {
                add_layer_use(uses, layer, Pass::forward, unit.microbatch);
            }
            if (forward_only_ && unembeds(unit.chunk)) {
                add_end_use(uses, false, unit.microbatch);
            }
        } else if (unit.kind == PipelineUnit::Kind::backward) {
            if (unembeds(unit.chunk)) {
                add_end_use(uses, false, unit.microbatch);
            }
            for (int layer = end; layer-- > begin;) {
                add_layer_use(uses, layer, Pass::backward, unit.microbatch);
            }
        }
    }
    return uses;
}

}  // namespace podsim::workloads
