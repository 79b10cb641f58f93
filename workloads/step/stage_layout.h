// The model on one pipeline stage: its runs of layers, the ends of the model, and the
// uses of their weights.
//
// The first stage has the embedding, the last the unembedding and the loss. Each chunk of a stage
// has an equal run of layers. Weights of a microbatch are used in this order: embedding, layer 0 to
// L-1, unembedding (one use for its forward and backward pass, never rematerialised), layer L-1 to
// 0 backward. The embedding's backward pass adds rows and needs no weights. With tied embeddings
// the gradients of the table are one group of one stage; in a pipeline two stages hold it. Layers
// of further tokens, which a pipeline does not have, are numbered behind the model's. Their uses
// surround the unembedding's (further_tokens.h).
#pragma once

#include <map>
#include <vector>

#include "workloads/models/model.h"
#include "workloads/models/weights.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/plan/ranks.h"
#include "workloads/plan/remat.h"
#include "workloads/program/weight_uses.h"

namespace podsim::workloads {

struct TrainingPlan;

/// Matrices in reading order.
struct WeightOrder {
    std::vector<Matrix> forward;
    std::vector<Matrix> backward;  ///< with recomputation
};

/// Returns the order, found by writing the layer by itself, with the plan's remat
/// and overlapped forms.
WeightOrder weight_order(const ModelSpec& model, TrainingPlan plan, const Ranks& ranks, int layer);

/// Returns the matrices whose forward matmuls run again in the backward pass.
MatrixSet matrices_again(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks,
                         int layer);

struct TrainingPlan;

/// A layer of further tokens keeps everything, because MaxText wraps only the layers of its loop in
/// jax.checkpoint (multi_token_prediction.py takes the decoder's layer as it is).
inline constexpr Remat kMtpRemat{.policy = RematPolicy::none};

/// Layers, ends, parameters and weight uses of one stage.
class StageLayout {
public:
    StageLayout(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks);

    [[nodiscard]] bool first() const { return stage_ == 0; }
    [[nodiscard]] bool last() const { return stage_ == stages_ - 1; }
    [[nodiscard]] bool tied() const { return tied_; }
    /// Returns the units of work, in order.
    [[nodiscard]] const std::vector<PipelineUnit>& order() const { return order_; }

    /// Returns the index of a chunk among the chunks of all stages.
    [[nodiscard]] int virtual_stage(int chunk) const { return chunk * stages_ + stage_; }
    [[nodiscard]] int virtual_stages() const { return stages_ * chunks_; }
    /// True if a chunk begins with the embedding, or ends with the unembedding.
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

    /// Layers of further tokens, their first number, and the parameters of the projection of one.
    [[nodiscard]] int mtp_layers() const { return mtp_layers_; }
    [[nodiscard]] int first_mtp_layer() const { return run_; }
    [[nodiscard]] double mtp_projection() const { return mtp_projection_; }

    /// Return the parameters of the whole stage.
    [[nodiscard]] double parameters() const { return weights().total(); }
    [[nodiscard]] Weights weights() const;
    /// Return the parameters whose gradients the embedding, or the unembedding, reduces. Those of a
    /// tied table are one group.
    [[nodiscard]] double embedding_parameters() const;
    [[nodiscard]] double unembedding_parameters() const;
    [[nodiscard]] double table_parameters() const { return table_; }

    /// Returns the uses in the order of the stage.
    [[nodiscard]] std::vector<WeightUse> weight_uses() const;

private:
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
    /// Empty if a layer is one group, whatever it reads first.
    std::map<LayerKind, WeightOrder> weight_order_;
    WeightOrder mtp_order_;
    /// Matrices that recomputation reads with weights of its own.
    std::map<LayerKind, MatrixSet> again_;
};

}  // namespace podsim::workloads
