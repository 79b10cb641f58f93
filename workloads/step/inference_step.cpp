#include "workloads/step/inference_step.h"

#include <algorithm>
#include <fmt/format.h>

#include "workloads/analytic/kv_cache.h"
#include "workloads/builder/forward_parts.h"
#include "workloads/plan/plan.h"
#include "workloads/serve/cache_work.h"
#include "workloads/serve/inference_layer.h"
#include "workloads/step/stage_layout.h"
#include "workloads/work/work.h"

namespace podsim::workloads {
namespace {

constexpr double kChoice = 8;  // bytes: a logit and where it stands

class InferenceStage {
public:
    InferenceStage(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks)
        : model_(model),
          plan_(plan),
          layout_(model, plan, ranks),
          parts_(model, plan, ranks, layout_.weight_uses()) {}

    StepProgram write() {
        hold_parameters();
        hold_cache();
        for (const PipelineUnit& unit : layout_.order()) {
            parts_.begin_unit(unit.microbatch);
            go_through(unit);
        }
        return parts_.finish();
    }

private:
    void hold_parameters() {
        const Shard& shard = parts_.shard;
        double held = parts_.sharding.local(layout_.weights());
        // Beyond this way's share of the heads: those that other ways have, too.
        const double own = static_cast<double>(model_.kv_heads) / plan_.ways.of_matrix();
        if (model_.latent.kv_rank == 0) {
            held += (shard.kv_heads - own) * shard.d_model * (shard.head_dim + shard.value_dim) *
                    layers() / parts_.sharding.dense_ways();
        }
        parts_.buffers.hold(MemoryClass::parameters, held * plan_.precision.parameters, kWholeStep);
    }

    [[nodiscard]] double layers() const {
        double sum = 0;
        for (int chunk = 0; chunk < plan_.pipeline.chunks; ++chunk) {
            sum += layout_.end_of_layers(chunk) - layout_.first_layer(chunk);
        }
        return sum;
    }

    /// Of all microbatches.
    void hold_cache() {
        const Shard& shard = parts_.shard;
        const Inference& inference = *plan_.inference;
        // Heads of this chip, those that it shares with others whole; a latent vector is nobody's own.
        const double heads =
            shard.latent.width > 0 ? 1 : shard.kv_heads / static_cast<double>(model_.kv_heads);
        double bytes = 0;
        for (const Shard::Run& run : shard.runs) {
            const double tokens =
                std::max(run.cached + run.fresh, static_cast<double>(inference.reserved));
            for (int chunk = 0; chunk < plan_.pipeline.chunks; ++chunk) {
                bytes += run.sequences * cache_bytes(model_, layout_.first_layer(chunk),
                                                     layout_.end_of_layers(chunk), tokens,
                                                     inference.cache_element)
                                             .value();
            }
        }
        parts_.buffers.hold(
            MemoryClass::kv_cache,
            bytes * heads * plan_.batch.microbatches / (shard.cache.ways * shard.context),
            kWholeStep);
    }

    void go_through(const PipelineUnit& unit) {
        const Shard& shard = parts_.shard;
        const OpIndex start = parts_.chain.next();
        Tensor x = layout_.embeds(unit.chunk) ? embed() : receive(unit);
        for (int layer = layout_.first_layer(unit.chunk); layer < layout_.end_of_layers(unit.chunk);
             ++layer) {
            parts_.begin_use();
            x = inference_layer(parts_, layout_.kind(layer), x);
            parts_.weights.end_use();
        }
        // The residual stream and the rows that a block reads.
        parts_.buffers.hold_between(MemoryClass::buffers, 2 * full_row_bytes(shard), start,
                                    parts_.chain.last());
        if (layout_.unembeds(unit.chunk)) {
            sample(x);
        } else {
            parts_.messages.send_rows("send activations", handover(unit, true), x);
        }
    }

    Tensor embed() {
        parts_.begin_use();
        const Tensor lookup =
            parts_.compute("lookup", embedding_lookup(parts_.shard), parts_.weights.gathered());
        Tensor rows = add_up(parts_, "rows", parts_.shard.tokens, lookup);
        parts_.weights.end_use();
        return rows;
    }

    void sample(const Tensor& rows) {
        const Shard last = of_last_tokens(parts_.shard);
        parts_.begin_use();
        const Tensor normed = parts_.exchange.reduce_norm("norm", 1, rows);
        const Tensor partial = parts_.with_weights("logits", logits_forward(last), normed.made_by);
        // The exchange counts columns of all tokens.
        const Tensor logits = parts_.exchange.scatter_transposed(
            "logits", last.vocabulary * last.tokens / parts_.shard.tokens, partial);
        const Tensor chosen = parts_.compute("sampling", sampling(last), logits.made_by);
        parts_.exchange.all_reduce("choice", last.tokens * kChoice, chosen);
        parts_.buffers.hold_between(MemoryClass::buffers,
                                    last.tokens * last.vocabulary * last.precision.logits,
                                    partial.from, chosen.through);
        parts_.weights.end_use();
    }

    /// Messages from virtual stage q to q + 1 are numbered by q and microbatch.
    Handover handover(const PipelineUnit& unit, bool sends) {
        const int here = layout_.virtual_stage(unit.chunk);
        const int from = sends ? here : here - 1;
        Handover one;
        one.message = static_cast<std::uint32_t>(from * plan_.batch.microbatches + unit.microbatch);
        one.sends = sends;
        one.peer = static_cast<std::uint32_t>((sends ? here + 1 : from) % plan_.ways.pipeline);
        parts_.names.set_part(
            plan_.pipeline.chunks == 1 ? "stage" : fmt::format("chunk {}", unit.chunk),
            Pass::forward);
        return one;
    }

    Tensor receive(const PipelineUnit& unit) {
        return parts_.messages.receive_rows("receive activations", handover(unit, false));
    }

    const ModelSpec& model_;
    const TrainingPlan& plan_;
    const StageLayout layout_;
    ForwardParts parts_;
};

}  // namespace

StepProgram build_inference(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks) {
    return InferenceStage(model, plan, ranks).write();
}

}  // namespace podsim::workloads
