// The whole step of one pipeline stage (without a pipeline: of every chip), unit by unit in the
// order of stage_order: forward, loss and backward of each microbatch, then the optimizer.
//
// This chip's rows, r D elements, go between stages: forward after a chunk's last layer,
// backward after its whole backward pass or, if weight gradients have passes of their own, after
// its input gradients.
#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "workloads/plan/padding.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/plan/plan.h"
#include "workloads/step/further_tokens.h"
#include "workloads/step/inference_step.h"
#include "workloads/step/layer_backward.h"
#include "workloads/step/model_ends.h"
#include "workloads/step/split_backward.h"
#include "workloads/step/stage_layout.h"
#include "workloads/step/step.h"
#include "workloads/step/step_parts.h"

namespace podsim::workloads {
namespace {

using Kind = PipelineUnit::Kind;

/// Writer of the step of one stage.
class Stage {
public:
    Stage(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks)
        : plan_(plan),
          layout_(model, plan, ranks),
          parts_(model, plan, ranks, layout_.weight_uses()),
          ends_(layout_, parts_),
          further_(layout_, parts_, ends_),
          saved_(static_cast<std::size_t>(plan.pipeline.chunks * plan.batch.microbatches)),
          split_(saved_.size()),
          output_(static_cast<std::size_t>(plan.batch.microbatches)) {}

    StepProgram write(const sim::StopCheck& check) {
        hold_state();
        for (const PipelineUnit& unit : layout_.order()) {
            if (check) {
                check();
            }
            parts_.begin_unit(unit.microbatch);
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
            parts_.gradients.end_unit();
        }
        parts_.chain.begin_turn();
        if (!plan_.layers_only && !plan_.forward_only) {
            if (layout_.tied() && plan_.ways.pipeline > 1 && (layout_.first() || layout_.last())) {
                exchange_table();
            }
            parts_.names.set_part("optimizer", Pass::optimizer);
            parts_.gradients.optimize(layout_.parameters(), parts_.weights.uses());
        } else {
            parts_.gradients.reduce_rest();
        }
        return parts_.finish();
    }

private:
    [[nodiscard]] bool splits() const {
        return plan_.pipeline.schedule == PipelineSchedule::zero_bubble;
    }
    [[nodiscard]] std::size_t slot(const PipelineUnit& unit) const {
        return static_cast<std::size_t>(unit.chunk) *
                   static_cast<std::size_t>(plan_.batch.microbatches) +
               static_cast<std::size_t>(unit.microbatch);
    }
    [[nodiscard]] bool begins_model(const PipelineUnit& unit) const {
        return layout_.virtual_stage(unit.chunk) == 0;
    }
    [[nodiscard]] bool ends_model(const PipelineUnit& unit) const {
        return layout_.virtual_stage(unit.chunk) == layout_.virtual_stages() - 1;
    }

    /// Holds parameters and the optimizer's state from the start of the step.
    void hold_state() {
        const double held = parts_.sharding.local(layout_.parameters());
        const bool sharded = plan_.zero > 0;
        const double updated = sharded ? held / plan_.ways.data : held;
        const Precision& bytes = plan_.precision;
        parts_.buffers.hold(MemoryClass::parameters,
                            held * (sharded ? bytes.copy() : bytes.parameters), kWholeStep);
        if (sharded && bytes.parameters > bytes.copy()) {
            parts_.buffers.hold(MemoryClass::parameters, updated * bytes.parameters, kWholeStep);
        }
        if (const double moments = moments_of(plan_.optimizer); moments > 0) {
            parts_.buffers.hold(MemoryClass::optimizer, updated * moments * bytes.optimizer_moment,
                                kWholeStep);
        }
    }

    void forward(const PipelineUnit& unit) {
        Tensor x;
        if (layout_.embeds(unit.chunk)) {
            x = ends_.embed();
        } else if (!begins_model(unit)) {
            x = receive(unit, Pass::forward);
        }
        std::vector<SavedLayer>& saved = saved_[slot(unit)];
        for (int layer = layout_.first_layer(unit.chunk); layer < layout_.end_of_layers(unit.chunk);
             ++layer) {
            parts_.begin_use();
            LayerForward made = layer_forward(parts_, plan_.remat, layout_.kind(layer), x);
            x = std::move(made.output);
            saved.push_back(std::move(made.saved));
            if (plan_.forward_only) {
                parts_.buffers.release(saved.back().input.buffer, parts_.chain.last());
            }
            parts_.end_use();
        }
        if (!ends_model(unit)) {
            send(unit, Pass::forward, x);
            return;
        }
        if (layout_.unembeds(unit.chunk)) {
            x.buffer = parts_.buffers.hold(MemoryClass::buffers, own_row_bytes(parts_.shard),
                                           parts_.chain.last());
            if (plan_.forward_only) {
                ends_.unembed(x);
            }
        }
        output_[static_cast<std::size_t>(unit.microbatch)] = std::move(x);
    }

    void backward(const PipelineUnit& unit) {
        // If only layers run, the loss is their output.
        Tensor dy = output_[static_cast<std::size_t>(unit.microbatch)];
        if (layout_.unembeds(unit.chunk)) {
            dy = layout_.mtp_layers() > 0 ? further_.losses(dy) : ends_.unembed(dy);
        } else if (!ends_model(unit)) {
            dy = receive(unit, Pass::backward);
        }
        std::vector<SavedLayer>& saved = saved_[slot(unit)];
        for (int layer = layout_.end_of_layers(unit.chunk);
             layer-- > layout_.first_layer(unit.chunk);) {
            parts_.begin_use();
            bring_back(parts_, saved.back());
            dy = layer_gradients(unit, layer, std::move(saved.back()), dy);
            parts_.end_use();
            saved.pop_back();
        }
        if (!begins_model(unit)) {
            send(unit, Pass::backward, dy);
        } else if (layout_.embeds(unit.chunk) && !splits()) {
            ends_.embedding_backward(dy);
        } else if (splits()) {
            row_gradient_ = dy;
            row_gradient_.buffer = parts_.buffers.hold(
                MemoryClass::buffers, own_row_bytes(parts_.shard), parts_.chain.last());
        }
    }

    /// Computes all gradients of a layer, or only those of its input.
    Tensor layer_gradients(const PipelineUnit& unit, int layer, SavedLayer saved,
                           const Tensor& dy) {
        if (!splits()) {
            return layer_backward(parts_, plan_.remat, layout_.kind(layer), std::move(saved), dy);
        }
        split_[slot(unit)].emplace_back(parts_, layout_.kind(layer), std::move(saved));
        return split_[slot(unit)].back().input_gradients(dy);
    }

    /// Computes the weight gradients that the backward pass has left, in its order.
    void weights(const PipelineUnit& unit) {
        int layer = layout_.end_of_layers(unit.chunk);
        for (SplitBackward& backward : split_[slot(unit)]) {
            --layer;
            parts_.chain.begin_turn();
            parts_.names.set_part(fmt::format("layer {}", layer), Pass::backward, layer);
            backward.weight_gradients();
            parts_.end_turn();
        }
        split_[slot(unit)].clear();
        if (begins_model(unit)) {
            if (layout_.embeds(unit.chunk)) {
                ends_.embedding_backward(row_gradient_);
            }
            parts_.buffers.release(row_gradient_.buffer, parts_.chain.last());
        }
    }

    /// Messages from virtual stage q to q + 1 and back are numbered by q, microbatch and direction.
    [[nodiscard]] std::uint32_t message(int from, int microbatch, Pass pass) const {
        return static_cast<std::uint32_t>(2 * (from * plan_.batch.microbatches + microbatch) +
                                          (pass == Pass::backward ? 1 : 0));
    }

    /// Returns one end of a message between this chunk and the one before or after it.
    [[nodiscard]] Handover between(const PipelineUnit& unit, Pass pass, bool sends) {
        const int here = layout_.virtual_stage(unit.chunk);
        const bool later = sends == (pass == Pass::forward);  // the other end is the later one
        const int other = later ? here + 1 : here - 1;
        Handover handover;
        handover.message = message(std::min(here, other), unit.microbatch, pass);
        handover.sends = sends;
        handover.peer = static_cast<std::uint32_t>(other % plan_.ways.pipeline);
        parts_.names.set_part(
            plan_.pipeline.chunks == 1 ? "stage" : fmt::format("chunk {}", unit.chunk), pass);
        return handover;
    }

    [[nodiscard]] static std::string sent(Pass pass) {
        return pass == Pass::forward ? "activations" : "gradients";
    }

    Tensor receive(const PipelineUnit& unit, Pass pass) {
        const Handover handover = between(unit, pass, false);
        return parts_.messages.receive_rows("receive " + sent(pass), handover);
    }

    void send(const PipelineUnit& unit, Pass pass, const Tensor& rows) {
        const Handover handover = between(unit, pass, true);
        parts_.messages.send_rows("send " + sent(pass), handover, rows);
    }

    /// Exchanges the reduced gradients of the tied table; each end adds the other's to its own.
    void exchange_table() {
        const bool first = layout_.first();
        const std::uint32_t unused = message(layout_.virtual_stages(), 0, Pass::forward);
        Handover ours;
        ours.message = unused + (first ? 0 : 1);
        ours.sends = true;
        ours.peer = static_cast<std::uint32_t>(first ? plan_.ways.pipeline - 1 : 0);
        Handover theirs = ours;
        theirs.message = unused + (first ? 1 : 0);
        theirs.sends = false;
        parts_.names.set_part("embedding", Pass::backward);
        parts_.gradients.exchange(first ? "embedding" : "unembedding", layout_.table_parameters(),
                                  ours, theirs);
    }

    const TrainingPlan& plan_;
    const StageLayout layout_;
    StepParts parts_;
    ModelEnds ends_;
    FurtherTokens further_;
    std::vector<std::vector<SavedLayer>> saved_;     ///< [chunk, microbatch][layer]
    std::vector<std::vector<SplitBackward>> split_;  ///< by chunk and microbatch, last layer first
    std::vector<Tensor> output_;                     ///< of the last layer, by microbatch
    Tensor row_gradient_;                            ///< of the first layer's input
};

}  // namespace

StepProgram build_step(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks,
                       const sim::StopCheck& check) {
    if (plan.inference) {
        return build_inference(padded(model, plan.ways, KeyHeads::repeated, plan.moe.whole), plan,
                               ranks);
    }
    TrainingPlan kept = plan;
    if (plan.forward_only) {
        kept.remat = {};  // a layer keeps only its input, and that to its end
    }
    const ModelSpec computed = padded(model, plan.ways);
    return Stage(computed, kept, ranks).write(check);
}

}  // namespace podsim::workloads
