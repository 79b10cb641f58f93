#include "workloads/step/stage_layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "workloads/plan/plan.h"
#include "workloads/step/layer_backward.h"
#include "workloads/step/split_backward.h"

namespace podsim::workloads {

WeightOrder weight_order(const ModelSpec& model, TrainingPlan plan, const Ranks& ranks, int layer) {
    plan.overlap.weights = WeightGroups::layer;
    WeightUse use;
    use.layer = layer;
    std::vector<WeightUse> uses{use, use};
    uses.back().pass = Pass::backward;
    StepParts parts(model, plan, ranks, uses);
    const LayerKind kind = layer_kind(model, layer);
    parts.begin_use();
    LayerForward forward = layer_forward(parts, parts.remat, kind, {});
    parts.end_use();
    parts.begin_use();
    bring_back(parts, forward.saved);
    if (plan.pipeline.schedule == PipelineSchedule::zero_bubble) {
        SplitBackward(parts, kind, forward.saved).input_gradients(forward.output);
    } else {
        layer_backward(parts, parts.remat, kind, forward.saved, forward.output);
    }
    parts.end_use();
    return {parts.weights.matrices_read().front(), parts.weights.matrices_read().back()};
}

MatrixSet matrices_again(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks,
                         int layer) {
    TrainingPlan keeps_all = plan;
    keeps_all.remat = {.policy = RematPolicy::none};
    const std::vector<Matrix> read = weight_order(model, plan, ranks, layer).backward;
    const std::vector<Matrix> once = weight_order(model, keeps_all, ranks, layer).backward;
    MatrixSet again;
    for (const Matrix matrix : kMatrices) {
        if (std::ranges::count(read, matrix) > std::ranges::count(once, matrix)) {
            again.add(matrix);
        }
    }
    return again;
}

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
        if (plan.precision.finds_scales() && !plan.forward_only &&
            !again_.contains(kinds_.back())) {
            again_[kinds_.back()] = matrices_again(model, plan, ranks, layer);
        }
    }
    if (model.mtp_layers > 0) {
        const auto first = static_cast<int>(model.layers);
        mtp_layers_ = static_cast<int>(model.mtp_layers);
        mtp_projection_ = static_cast<double>(mtp_matrix(model) + mtp_vectors(model));
        kinds_.resize(kinds_.size() + static_cast<std::size_t>(model.mtp_layers),
                      layer_kind(model, first));
        layers_.resize(kinds_.size(), layer_weights(model, kinds_.back()).total());
        if (plan.overlap.weights != WeightGroups::layer) {
            TrainingPlan kept = plan;
            kept.remat = kMtpRemat;
            mtp_order_ = weight_order(model, kept, ranks, first);
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
    for (int layer = first_mtp_layer(); layer < first_mtp_layer() + mtp_layers_; ++layer) {
        sum += layers_[static_cast<std::size_t>(layer)];
        sum.dense += mtp_projection_;
    }
    const bool shared = tied_ && first() && last();
    sum.dense +=
        (first() ? table_ + positions_ : 0) + (last() ? final_norm_ + (shared ? 0 : table_) : 0);
    return sum;
}

double StageLayout::embedding_parameters() const {
    return table_ + positions_ + (tied_ && first() && last() ? final_norm_ : 0);
}

double StageLayout::unembedding_parameters() const {
    return table_ + final_norm_ + (tied_ && first() && last() ? positions_ : 0);
}

void StageLayout::add_layer_use(std::vector<WeightUse>& uses, int layer, Pass pass,
                                int microbatch) const {
    uses.push_back({fmt::format("layer {}", layer), layer, pass,
                    layers_[static_cast<std::size_t>(layer)], microbatch});
    if (const auto found = weight_order_.find(kind(layer)); found != weight_order_.end()) {
        uses.back().reads = pass == Pass::forward ? found->second.forward : found->second.backward;
    }
    if (const auto found = again_.find(kind(layer));
        found != again_.end() && pass == Pass::backward) {
        uses.back().again = found->second;
    }
}

void StageLayout::add_end_use(std::vector<WeightUse>& uses, bool embedding, int microbatch) const {
    uses.push_back({embedding ? "embedding" : std::string(kUnembeddingPart),
                    -1,
                    Pass::forward,
                    {table_ + (embedding ? positions_ : final_norm_), 0},
                    microbatch});
}

void StageLayout::add_mtp_use(std::vector<WeightUse>& uses, int layer, Pass pass,
                              int microbatch) const {
    const int number = first_mtp_layer() + layer;
    const bool forward = pass == Pass::forward;
    const WeightUse projection{
        fmt::format("mtp {} projection", layer + 1), -1, pass, {mtp_projection_, 0}, microbatch};
    const WeightUse all{fmt::format("mtp {}", layer + 1),
                        number,
                        pass,
                        layers_[static_cast<std::size_t>(number)],
                        microbatch,
                        false,
                        forward ? mtp_order_.forward : mtp_order_.backward};
    uses.insert(uses.end(), {forward ? projection : all, forward ? all : projection});
}

/// Adds the uses of all losses. The table is gathered once for them. An untied embedding is
/// gathered once more for the lookups of each further token.
void StageLayout::add_loss_uses(std::vector<WeightUse>& uses, int microbatch) const {
    add_end_use(uses, false, microbatch);
    if (mtp_layers_ == 0) {
        return;
    }
    const auto of_tables = [&](std::string part, Pass pass, double parameters) {
        uses.push_back({std::move(part), -1, pass, {parameters, 0}, microbatch, true});
    };
    const auto of_logits = [&](int layer, Pass pass) {
        of_tables(fmt::format("mtp {} unembedding", layer + 1), pass, 0);
    };
    for (int layer = 0; layer < mtp_layers_; ++layer) {
        of_tables(fmt::format("mtp {} embedding", layer + 1), Pass::forward,
                  tied_ ? 0 : table_ + positions_);
        add_mtp_use(uses, layer, Pass::forward, microbatch);
        of_logits(layer, Pass::forward);
    }
    for (int layer = mtp_layers_; layer-- > 0;) {
        of_logits(layer, Pass::backward);
        add_mtp_use(uses, layer, Pass::backward, microbatch);
    }
    of_tables("unembedding", Pass::backward, 0);
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
                add_loss_uses(uses, unit.microbatch);
            }
            for (int layer = end; layer-- > begin;) {
                add_layer_use(uses, layer, Pass::backward, unit.microbatch);
            }
        }
    }
    return uses;
}

}  // namespace podsim::workloads
