// What one pipeline stage has of the model: its runs of layers, the ends of the model, and its uses of their weights.
//
// The first stage has the embedding, the last the unembedding and the loss; each chunk of a stage has an equal run
// of layers. Weights of a microbatch are used in this order: embedding, layer 0 to L-1, unembedding (one use for
// its forward and backward, never rematerialised), layer L-1 to 0 backward. The embedding's backward adds rows and
// needs no weights. Tied embeddings: the gradients of the table are one group of one stage; in a pipeline two stages hold it.
// Layers of further tokens, which a pipeline has none of, are numbered behind the model's; their uses stand around the
// unembedding's (further_tokens.h).
#pragma once

#include <map>
#include <vector>

#include "workloads/chain/weight_uses.h"
#include "workloads/layers/weight_order.h"
#include "workloads/models/model.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/plan/ranks.h"
#include "workloads/plan/remat.h"

namespace podsim::workloads {

struct TrainingPlan;

/// A layer of further tokens keeps all: MaxText wraps those of its loop alone in jax.checkpoint
/// (multi_token_prediction.py takes the decoder's layer as it is).
inline constexpr Remat kMtpRemat{.policy = RematPolicy::none};

class StageLayout {
public:
    StageLayout(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks);

    [[nodiscard]] bool first() const { return stage_ == 0; }
    [[nodiscard]] bool last() const { return stage_ == stages_ - 1; }
    [[nodiscard]] bool tied() const { return tied_; }
    /// Units of work, in order.
    [[nodiscard]] const std::vector<PipelineUnit>& order() const { return order_; }

    /// The place of a chunk among the chunks of all stages.
    [[nodiscard]] int virtual_stage(int chunk) const { return chunk * stages_ + stage_; }
    [[nodiscard]] int virtual_stages() const { return stages_ * chunks_; }
    /// Whether a chunk begins with the embedding, or ends with the unembedding.
    [[nodiscard]] bool embeds(int chunk) const {
        return !layers_only_ && virtual_stage(chunk) == 0;
    }
    [[nodiscard]] bool unembeds(int chunk) const {
        return !layers_only_ && virtual_stage(chunk) == virtual_stages() - 1;
    }
    /// A chunk's layers, from the first to before the end.
    [[nodiscard]] int first_layer(int chunk) const { return virtual_stage(chunk) * run_; }
    [[nodiscard]] int end_of_layers(int chunk) const { return first_layer(chunk) + run_; }
    [[nodiscard]] LayerKind kind(int layer) const {
        return kinds_[static_cast<std::size_t>(layer)];
    }

    /// Layers of further tokens, from this one on; what projects the rows of one.
    [[nodiscard]] int mtp_layers() const { return mtp_layers_; }
    [[nodiscard]] int first_mtp_layer() const { return run_; }
    [[nodiscard]] double mtp_projection() const { return mtp_projection_; }

    /// Of the whole stage.
    [[nodiscard]] double parameters() const { return weights().total(); }
    [[nodiscard]] Weights weights() const;
    /// Of the gradients that the embedding, and the unembedding, reduces. A tied table's are one group.
    [[nodiscard]] double embedding_parameters() const;
    [[nodiscard]] double unembedding_parameters() const;
    [[nodiscard]] double table_parameters() const { return table_; }

    /// In the order in which the stage uses them.
    [[nodiscard]] std::vector<WeightUse> weight_uses() const;

private:
    [[nodiscard]] bool has_both_ends() const { return first() && last(); }
    void add_layer_use(std::vector<WeightUse>& uses, int layer, Pass pass, int microbatch) const;
    void add_end_use(std::vector<WeightUse>& uses, bool embedding, int microbatch) const;
    void add_loss_uses(std::vector<WeightUse>& uses, int microbatch) const;
    void add_mtp_use(std::vector<WeightUse>& uses, int layer, Pass pass, int microbatch) const;

    const int stage_;
    const int stages_;
    const int chunks_;  ///< of each stage
    const bool layers_only_;
    const bool forward_only_;
    const bool tied_;
    std::vector<LayerKind> kinds_;  ///< by layer of the model
    std::vector<Weights> layers_;
    double table_ = 0;
    double positions_ = 0;
    double final_norm_ = 0;
    const std::vector<PipelineUnit> order_;
    const int run_;  ///< layers of a chunk
    int mtp_layers_ = 0;
    double mtp_projection_ = 0;
    /// Nothing where a layer is one group, whatever it reads first.
    std::map<LayerKind, WeightOrder> weight_order_;
    WeightOrder mtp_order_;
    /// Where what runs again reads weights of its own.
    std::map<LayerKind, MatrixSet> again_;
};

}  // namespace podsim::workloads
