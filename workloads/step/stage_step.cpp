// The whole step of one pipeline stage (without a pipeline: of every chip), unit by unit in the order of
// stage_order: forward, loss and backward of each microbatch, then the optimizer.
//
// The first stage has the embedding, the last the unembedding and the loss; each chunk of a stage has an equal run
// of layers. Weights of a microbatch are used in this order: embedding, layer 0 to L-1, unembedding (one use for
// its forward and backward, never rematerialised), layer L-1 to 0 backward. The embedding's backward adds rows and
// needs no weights. Tied embeddings: the table is gathered for both uses and its gradient, summed over both, is
// reduced once a microbatch, after the embedding's backward; in a pipeline two stages hold it and exchange them.
//
// Between stages go this chip's rows, r D elements: forward after a chunk's last layer, backward after its whole
// backward pass or, where weight gradients have passes of their own, after its input gradients. The unembedding's
// weight gradient is never put off, so that no logits are kept.
//
// With T > 1 the tables are split over the vocabulary (and D, step_builder_tensor.cpp): the lookup's partial rows
// are scattered, logits made of gathered ones, each token's maximum and sum (4-byte values) all-reduced.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include "workloads/builder/step_builder.h"
#include "workloads/layers/layer_reads.h"
#include "workloads/layers/split_backward.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using Kind = PipelineUnit::Kind;

constexpr double kSoftmaxBytes = 2 * 4;  // a token's maximum and sum, 4 bytes each

/// Parameters of the groups of weights.
struct Groups {
    explicit Groups(const ModelSpec& model) {
        const ParameterCount count = count_parameters(model);
        for (std::int64_t layer = 0; layer < model.layers; ++layer) {
            kinds.push_back(layer_kind(model, layer));
            layers.push_back(layer_weights(model, kinds.back()).total());
        }
        table = static_cast<double>(count.embedding);
        positions = static_cast<double>(count.positions);
        final_norm = static_cast<double>(count.final_norm);
    }
    std::vector<LayerKind> kinds;  ///< by layer
    std::vector<Weights> layers;
    double table = 0;
    double positions = 0;
    double final_norm = 0;
};

/// What one stage has of the model.
class Stage {
public:
    Stage(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks)
        : plan_(plan),
          stage_(ranks.stage),
          tied_(model.tied_embeddings),
          groups_(model),
          order_(stage_order(plan, ranks.stage)),
          run_(static_cast<int>(model.layers) / (plan.ways.pipeline * plan.pipeline.chunks)),
          reads_(reads_by_kind(model, plan, ranks)),
          builder_(model, plan, ranks, weight_uses(), parameters()),
          saved_(static_cast<std::size_t>(plan.pipeline.chunks * plan.batch.microbatches)),
          split_(saved_.size()),
          output_(static_cast<std::size_t>(plan.batch.microbatches), kNoBuffer) {}

    StepProgram write() {
        for (const PipelineUnit& unit : order_) {
            builder_.begin_unit(unit.microbatch);
            switch (unit.kind) {
                case Kind::forward:
                    forward(unit);
                    break;
                case Kind::backward:
                    backward(unit);
                    break;
                case Kind::weights:
                    weights(unit);
                    break;
            }
            builder_.end_unit();
        }
        if (!plan_.layers_only && !plan_.forward_only) {
            if (tied_ && plan_.ways.pipeline > 1 && (first() || last())) {
                exchange_table();
            }
            builder_.set_part("optimizer", Pass::optimizer);
            builder_.optimize(parameters());
        }
        return builder_.finish();
    }

private:
    [[nodiscard]] bool first() const { return stage_ == 0; }
    [[nodiscard]] bool last() const { return stage_ == plan_.ways.pipeline - 1; }
    [[nodiscard]] int virtual_stage(int chunk) const {
        return chunk * plan_.ways.pipeline + stage_;
    }
    [[nodiscard]] int virtual_stages() const { return plan_.ways.pipeline * plan_.pipeline.chunks; }
    [[nodiscard]] bool splits() const {
        return plan_.pipeline.schedule == PipelineSchedule::zero_bubble;
    }
    [[nodiscard]] bool embeds(int chunk) const {
        return !plan_.layers_only && virtual_stage(chunk) == 0;
    }
    [[nodiscard]] bool unembeds(int chunk) const {
        return !plan_.layers_only && virtual_stage(chunk) == virtual_stages() - 1;
    }
    [[nodiscard]] int first_layer(int chunk) const { return virtual_stage(chunk) * run_; }
    [[nodiscard]] std::size_t slot(const PipelineUnit& unit) const {
        return static_cast<std::size_t>(unit.chunk * plan_.batch.microbatches + unit.microbatch);
    }

    [[nodiscard]] double parameters() const {
        double sum = 0;
        for (int chunk = 0; chunk < plan_.pipeline.chunks; ++chunk) {
            for (int layer = first_layer(chunk); layer < first_layer(chunk) + run_; ++layer) {
                sum += groups_.layers[static_cast<std::size_t>(layer)].total();
            }
        }
        if (plan_.layers_only) {
            return sum;
        }
        const bool shared = tied_ && first() && last();
        return sum + (first() ? groups_.table + groups_.positions : 0) +
               (last() ? groups_.final_norm + (shared ? 0 : groups_.table) : 0);
    }
    /// Of the gradients that the embedding, and the unembedding, reduces. A tied table's are one group.
    [[nodiscard]] double embedding_parameters() const {
        return groups_.table + groups_.positions +
               (tied_ && first() && last() ? groups_.final_norm : 0);
    }
    [[nodiscard]] double unembedding_parameters() const {
        return groups_.table + groups_.final_norm +
               (tied_ && first() && last() ? groups_.positions : 0);
    }

    /// Nothing where a layer is one group, whatever it reads first.
    [[nodiscard]] static std::map<LayerKind, LayerReads> reads_by_kind(const ModelSpec& model,
                                                                       const TrainingPlan& plan,
                                                                       const Ranks& ranks) {
        std::map<LayerKind, LayerReads> reads;
        if (plan.overlap.weights != WeightGroups::layer) {
            for (int layer = 0; layer < model.layers; ++layer) {
                const LayerKind kind = layer_kind(model, layer);
                if (!reads.contains(kind)) {
                    reads[kind] = reads_of_layer(model, plan, ranks, layer);
                }
            }
        }
        return reads;
    }

    [[nodiscard]] std::vector<WeightUse> weight_uses() const {
        std::vector<WeightUse> uses;
        for (const PipelineUnit& unit : order_) {
            const int begin = first_layer(unit.chunk);
            const auto use_layer = [&](int layer, Pass pass) {
                const auto at = static_cast<std::size_t>(layer);
                uses.push_back({fmt::format("layer {}", layer), layer, pass, groups_.layers[at],
                                unit.microbatch});
                if (const auto found = reads_.find(groups_.kinds[at]); found != reads_.end()) {
                    uses.back().reads =
                        pass == Pass::forward ? found->second.forward : found->second.backward;
                }
            };
            const auto use_unembedding = [&] {
                uses.push_back({"unembedding",
                                -1,
                                Pass::forward,
                                {groups_.table + groups_.final_norm, 0},
                                unit.microbatch});
            };
            if (unit.kind == Kind::forward) {
                if (embeds(unit.chunk)) {
                    uses.push_back({"embedding",
                                    -1,
                                    Pass::forward,
                                    {groups_.table + groups_.positions, 0},
                                    unit.microbatch});
                }
                for (int layer = begin; layer < begin + run_; ++layer) {
                    use_layer(layer, Pass::forward);
                }
                if (plan_.forward_only && unembeds(unit.chunk)) {
                    use_unembedding();
                }
            } else if (unit.kind == Kind::backward) {
                if (unembeds(unit.chunk)) {
                    use_unembedding();
                }
                for (int layer = begin + run_; layer-- > begin;) {
                    use_layer(layer, Pass::backward);
                }
            }
        }
        return uses;
    }

    void forward(const PipelineUnit& unit) {
        if (embeds(unit.chunk)) {
            builder_.begin_use();
            const OpIndex lookup = builder_.compute("lookup", embedding_lookup(builder_.shard()));
            builder_.scatter_rows("rows", lookup);
            builder_.end_use();
        } else if (virtual_stage(unit.chunk) > 0) {
            between(unit, Pass::forward, false);
        }
        std::vector<LayerBuffers>& saved = saved_[slot(unit)];
        for (int layer = first_layer(unit.chunk); layer < first_layer(unit.chunk) + run_; ++layer) {
            builder_.begin_use();
            saved.push_back(
                layer_forward(builder_, groups_.kinds[static_cast<std::size_t>(layer)]));
            if (plan_.forward_only) {
                builder_.release(saved.back().input, builder_.last());
            }
            builder_.end_use();
        }
        if (virtual_stage(unit.chunk) < virtual_stages() - 1) {
            between(unit, Pass::forward, true);
        } else if (unembeds(unit.chunk)) {
            output_[static_cast<std::size_t>(unit.microbatch)] =
                builder_.hold(MemoryClass::buffers, builder_.local_rows(), builder_.last());
            if (plan_.forward_only) {
                unembedding(unit);
            }
        }
    }

    void backward(const PipelineUnit& unit) {
        if (unembeds(unit.chunk)) {
            unembedding(unit);
        } else if (virtual_stage(unit.chunk) < virtual_stages() - 1) {
            between(unit, Pass::backward, false);
        }
        const int begin = first_layer(unit.chunk);
        std::vector<LayerBuffers>& saved = saved_[slot(unit)];
        for (int layer = begin + run_; layer-- > begin;) {
            const auto at = static_cast<std::size_t>(layer);
            builder_.begin_use();
            if (splits()) {
                split_[slot(unit)].emplace_back(builder_, groups_.kinds[at], saved.back());
                split_[slot(unit)].back().input_gradients();
            } else {
                layer_backward(builder_, groups_.kinds[at], saved.back());
            }
            builder_.end_use();
            saved.pop_back();
        }
        if (virtual_stage(unit.chunk) > 0) {
            between(unit, Pass::backward, true);
        } else if (embeds(unit.chunk) && !splits()) {
            embedding_backward();
        } else if (splits()) {
            row_gradient_ =
                builder_.hold(MemoryClass::buffers, builder_.local_rows(), builder_.last());
        }
    }

    /// The weight gradients that the backward pass has left, in its order.
    void weights(const PipelineUnit& unit) {
        int layer = first_layer(unit.chunk) + run_;
        for (SplitBackward& backward : split_[slot(unit)]) {
            --layer;
            builder_.set_part(fmt::format("layer {}", layer), Pass::backward, layer);
            backward.weight_gradients();
            builder_.end_turn();
        }
        split_[slot(unit)].clear();
        if (virtual_stage(unit.chunk) == 0) {
            if (embeds(unit.chunk)) {
                embedding_backward();
            }
            builder_.release(row_gradient_, builder_.last());
        }
    }

    /// Loss and backward. The buffers of a tied table's gradients stay with table_.
    void unembedding(const PipelineUnit& unit) {
        const Shard& shard = builder_.shard();
        const Weights weights{unembedding_parameters(), 0};
        builder_.begin_use();
        builder_.reduce_norm("norm", 1);
        const OpIndex rows = builder_.gather_rows("input");
        const OpIndex partial = builder_.next();
        builder_.compute("logits", logits_forward(shard));
        const OpIndex logits = builder_.scatter_transposed("logits", shard.vocabulary, partial);
        builder_.all_reduce_tensor("softmax", shard.tokens * kSoftmaxBytes);
        const OpIndex end_of_loss = builder_.compute("loss", loss(shard));
        if (plan_.forward_only) {
            end_unembedding(unit, rows, logits, end_of_loss);
            return;
        }
        builder_.set_pass(Pass::backward);
        const OpIndex gradient = builder_.gather_transposed("logits gradient", shard.vocabulary);
        const OpIndex dx = builder_.compute("input gradient", logits_input_gradient(shard));
        builder_.scatter_rows("input gradient", dx);
        builder_.reduce_norm("norm gradient", 1);
        table_ = builder_.begin_gradients(weights);
        const OpIndex end = builder_.compute("weight gradient", logits_weight_gradient(shard));
        builder_.hold_between(MemoryClass::buffers, builder_.transposed_bytes(shard.vocabulary),
                              gradient, end);
        end_unembedding(unit, rows, logits, end);
        if (!tied_ || !first()) {
            builder_.reduce_gradients(weights, table_);
            builder_.end_turn();
        }
    }

    void end_unembedding(const PipelineUnit& unit, OpIndex rows, OpIndex logits, OpIndex end) {
        const Shard& shard = builder_.shard();
        builder_.hold_between(MemoryClass::buffers, builder_.full_rows(), rows, end);
        builder_.hold_between(MemoryClass::buffers,
                              shard.tokens * shard.vocabulary * shard.precision.compute, logits,
                              end);
        builder_.release(output_[static_cast<std::size_t>(unit.microbatch)], end);
        builder_.end_use();
    }

    void embedding_backward() {
        builder_.set_part("embedding", Pass::backward);
        const OpIndex rows = builder_.gather_rows("gradient");
        const double parameters = embedding_parameters();
        const Gradients unreduced =
            builder_.begin_gradients({parameters, 0}, tied_ && last() ? table_ : Gradients{});
        const OpIndex added =
            builder_.compute("scatter-add gradient", embedding_scatter_add(builder_.shard()));
        builder_.hold_between(MemoryClass::buffers, builder_.full_rows(), rows, added);
        builder_.reduce_gradients({parameters, 0}, unreduced);
    }

    /// Messages from virtual stage q to q + 1 and back are numbered by q, microbatch and direction.
    [[nodiscard]] std::uint32_t message(int from, int microbatch, Pass pass) const {
        return static_cast<std::uint32_t>(2 * (from * plan_.batch.microbatches + microbatch) +
                                          (pass == Pass::backward ? 1 : 0));
    }

    /// One end of what goes between this chunk and the one before or after it.
    void between(const PipelineUnit& unit, Pass pass, bool sends) {
        const int here = virtual_stage(unit.chunk);
        const bool later = sends == (pass == Pass::forward);  // the other end is the later one
        const int other = later ? here + 1 : here - 1;
        Handover handover;
        handover.message = message(std::min(here, other), unit.microbatch, pass);
        handover.sends = sends;
        handover.peer = static_cast<std::uint32_t>(other % plan_.ways.pipeline);
        builder_.set_part(
            plan_.pipeline.chunks == 1 ? "stage" : fmt::format("chunk {}", unit.chunk), pass);
        const char* what = pass == Pass::forward ? "activations" : "gradients";
        if (sends) {
            builder_.send_rows(fmt::format("send {}", what), handover);
        } else {
            builder_.receive_rows(fmt::format("receive {}", what), handover);
        }
    }

    /// Each end adds the other's reduced gradients of the tied table to its own.
    void exchange_table() {
        const std::uint32_t unused = message(virtual_stages(), 0, Pass::forward);
        Handover ours;
        ours.message = unused + (first() ? 0 : 1);
        ours.sends = true;
        ours.peer = static_cast<std::uint32_t>(first() ? plan_.ways.pipeline - 1 : 0);
        Handover theirs = ours;
        theirs.message = unused + (first() ? 1 : 0);
        theirs.sends = false;
        builder_.set_part("embedding", Pass::backward);
        builder_.exchange_gradients(groups_.table, ours, theirs);
    }

    const TrainingPlan& plan_;
    const int stage_;
    const bool tied_;
    const Groups groups_;
    const std::vector<PipelineUnit> order_;
    const int run_;  ///< layers of a chunk
    const std::map<LayerKind, LayerReads> reads_;
    StepBuilder builder_;
    std::vector<std::vector<LayerBuffers>> saved_;   ///< [chunk, microbatch][layer]
    std::vector<std::vector<SplitBackward>> split_;  ///< the same, last layer first
    std::vector<BufferId> output_;                   ///< of the last layer, by microbatch
    Gradients table_;
    BufferId row_gradient_ = kNoBuffer;  ///< of the first layer's input
};

}  // namespace

StepProgram build_step(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks) {
    TrainingPlan kept = plan;
    if (plan.forward_only) {
        kept.remat.policy =
            RematPolicy::block;  // a layer keeps its input alone, and that to its end
    }
    return Stage(model, kept, ranks).write();
}

}  // namespace podsim::workloads
