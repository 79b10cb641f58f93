#include "workloads/step/inference_step.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <vector>

#include "workloads/models/kv_cache.h"
#include "workloads/plan/plan.h"
#include "workloads/step/cache_work.h"
#include "workloads/step/forward_parts.h"
#include "workloads/step/inference_layer.h"
#include "workloads/step/stage_layout.h"
#include "workloads/work/placed_runs.h"
#include "workloads/work/work.h"

namespace podsim::workloads {
namespace {

constexpr double kChoice = 8;  // bytes: a logit and its index
constexpr double kToken = 4;   // bytes

Compute host_turn() {
    Compute turn;
    turn.host_turns = 1;
    return turn;
}

/// Writer of one step of one stage.
class InferenceStage {
public:
    /// `step` is its index among all simulated steps; `plan` is that of this step alone.
    InferenceStage(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks,
                   std::size_t step, bool last)
        : model_(model),
          plan_(plan),
          step_(static_cast<std::uint32_t>(step)),
          last_step_(last),
          stage_(ranks.stage),
          layout_(model, plan, ranks),
          parts_(model, plan, ranks, layout_.weight_uses()) {}

    StepProgram write() {
        hold_parameters();
        hold_cache();
        if (step_ > 0 && !layout_.first() && !layout_.last()) {
            parts_.messages.receive("receive tokens", of_step_before());
        }
        for (const PipelineUnit& unit : layout_.order()) {
            parts_.begin_unit(unit.microbatch);
            go_through(unit);
        }
        return parts_.finish();
    }

private:
    void hold_parameters() {
        const Precision& bytes = plan_.precision;
        const Weights held = layout_.weights();
        const bool both = layout_.tied() && layout_.first() && layout_.last();
        const double tables = (layout_.first() ? layout_.embedding_parameters() : 0) +
                              (layout_.last() && !both ? layout_.unembedding_parameters() : 0);
        double all = bytes.stored_alike()
                         ? parts_.sharding.local(held) * bytes.parameters
                         : parts_.sharding.local(Weights{(held.dense - tables) * bytes.parameters +
                                                             tables * bytes.stored_tables(),
                                                         held.experts * bytes.stored_experts()});
        if (model_.latent.kv_rank == 0) {
            all += repeated_heads() / parts_.sharding.dense_ways() * bytes.parameters;
        }
        parts_.buffers.hold(MemoryClass::parameters, all, kWholeStep);
    }

    /// Returns the number of layers of each kind on this stage.
    [[nodiscard]] std::map<LayerKind, double> layers() const {
        std::map<LayerKind, double> kinds;
        for (int chunk = 0; chunk < plan_.pipeline.chunks; ++chunk) {
            for (int i = layout_.first_layer(chunk); i < layout_.end_of_layers(chunk); ++i) {
                ++kinds[layout_.kind(i)];
            }
        }
        return kinds;
    }

    /// Returns the parameters beyond this rank's fraction of the heads of keys and values, which
    /// other ranks have too.
    [[nodiscard]] double repeated_heads() {
        double sum = 0;
        for (const auto& [kind, count] : layers()) {
            parts_.enter(kind);
            const Shard& shard = parts_.shard;
            const AttentionSizes sizes = attention_sizes(model_, kind);
            const auto all = static_cast<double>(sizes.kv_heads);
            const double columns = static_cast<double>(sizes.kv_projection()) / all;
            sum +=
                (shard.kv_heads - all / plan_.ways.of_matrix()) * shard.d_model * columns * count;
        }
        return sum;
    }

    /// Returns the cached elements of a sequence of `tokens` tokens. The heads of this chip count,
    /// those that it shares with others in full. A latent vector belongs to no head.
    [[nodiscard]] double cached_elements(double tokens) {
        double sum = 0;
        for (const auto& [kind, count] : layers()) {
            parts_.enter(kind);
            const Shard& shard = parts_.shard;
            const double heads = shard.latent.width > 0 ? 1 : shard.kv_heads / shard.all_kv_heads;
            sum +=
                count * cached_tokens(model_, kind, tokens) * cache_elements(model_, kind) * heads;
        }
        return sum;
    }

    /// Holds the cache of all microbatches, on the chip that keeps the most.
    void hold_cache() {
        const Inference& inference = *plan_.inference;
        const std::vector<std::int64_t> kept = most_kept(model_, plan_);
        double elements = 0;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            const CachedRun& run = inference.runs[i];
            if (run.padding) {
                continue;
            }
            const auto tokens =
                static_cast<double>(std::max(run.cached + run.fresh, inference.reserved));
            elements += static_cast<double>(kept[i]) * cached_elements(tokens);
        }
        const Shard& shard = parts_.shard;
        const double of_tokens = inference.split == CacheSplit::sequence ? shard.cache.ways : 1;
        parts_.buffers.hold(MemoryClass::kv_cache,
                            elements * inference.cache_element / (of_tokens * shard.context),
                            kWholeStep);
    }

    void go_through(const PipelineUnit& unit) {
        const Shard& shard = parts_.shard;
        const OpIndex start = parts_.chain.next();
        Tensor x = layout_.embeds(unit.chunk) ? embed(unit) : receive(unit);
        for (int layer = layout_.first_layer(unit.chunk); layer < layout_.end_of_layers(unit.chunk);
             ++layer) {
            parts_.begin_use();
            x = inference_layer(parts_, layout_.kind(layer), x);
            parts_.weights.end_use();
        }
        // The residual stream and the rows that a block reads are held.
        parts_.buffers.hold_between(MemoryClass::buffers, 2 * full_row_bytes(shard), start,
                                    parts_.chain.last());
        if (layout_.unembeds(unit.chunk)) {
            sample(unit, x);
        } else {
            parts_.messages.send_rows("send activations", handover(unit, true), x);
        }
    }

    /// Returns the rows of the embedding. In a pipeline the tokens of the previous step come
    /// from its last stage.
    Tensor embed(const PipelineUnit& unit) {
        Sources tokens;
        if (step_ > 0 && plan_.ways.pipeline > 1) {
            tokens =
                parts_.messages.receive("receive tokens", token_message(unit, step_ - 1, false))
                    .made_by;
        }
        parts_.begin_use();
        const Tensor lookup = parts_.compute("lookup", embedding_lookup(parts_.shard),
                                             tokens + parts_.weights.gathered());
        Tensor rows = add_up(parts_, "rows", parts_.shard.tokens, lookup);
        parts_.weights.end_use();
        return rows;
    }

    /// Samples the last tokens, if there are any: a chunk within a prompt has none. Then the host
    /// prepares the next step, unless it has done so while the device worked.
    void sample(const PipelineUnit& unit, const Tensor& rows) {
        const Shard last = of_last_tokens(parts_.shard);
        parts_.begin_use();
        const Tensor choice = last.tokens > 0 ? choose(last, rows) : rows;
        const bool over = last_step_ && unit.microbatch + 1 == plan_.batch.microbatches;
        const bool asks_host =
            !plan_.inference->asynchronous && (over || !plan_.inference->loop_on_device);
        const Tensor host =
            asks_host ? parts_.compute("host", host_turn(), choice.made_by) : choice;
        parts_.weights.end_use();
        if (!last_step_ && plan_.ways.pipeline > 1) {
            send_tokens(unit, host);
        }
    }

    Tensor choose(const Shard& last, const Tensor& rows) {
        const Tensor normed = parts_.exchange.reduce_norm("norm", 1, rows);
        const Tensor partial = parts_.with_weights("logits", logits_forward(last), normed.made_by);
        // The exchange counts columns of all tokens.
        const Tensor logits = parts_.exchange.scatter_transposed(
            "logits", last.vocabulary * last.tokens / parts_.shard.tokens, partial);
        const Tensor chosen = parts_.compute("sampling", sampling(last), logits.made_by);
        parts_.buffers.hold_between(MemoryClass::buffers,
                                    last.tokens * last.vocabulary * last.precision.logits,
                                    partial.from, chosen.through);
        return parts_.exchange.all_reduce("choice", last.tokens * kChoice, chosen);
    }

    /// Sends tokens to the first stage, which looks them up, and those of the first microbatch
    /// to the other stages. Tokens are an argument of a step's program, which does not begin
    /// before they are there.
    void send_tokens(const PipelineUnit& unit, const Tensor& tokens) {
        parts_.messages.send("send tokens", token_message(unit, step_, true), tokens);
        for (int stage = 1; unit.microbatch == 0 && stage + 1 < plan_.ways.pipeline; ++stage) {
            parts_.messages.send("send tokens", begin_message(stage, step_, true), tokens);
        }
    }

    /// Returns the message that a stage between the first and the last waits for before
    /// it begins this step.
    [[nodiscard]] Handover of_step_before() { return begin_message(stage_, step_ - 1, false); }

    /// Returns the message from the last stage's step to the first stage's next one.
    Handover token_message(const PipelineUnit& unit, std::uint32_t step, bool sends) {
        const int number = layout_.virtual_stages() * plan_.batch.microbatches + unit.microbatch;
        return tokens_to(0, number, step, sends);
    }

    /// Returns the message from the last stage's step to the next one of a stage between.
    Handover begin_message(int stage, std::uint32_t step, bool sends) {
        const int number = (layout_.virtual_stages() + 1) * plan_.batch.microbatches + stage;
        return tokens_to(stage, number, step, sends);
    }

    Handover tokens_to(int stage, int number, std::uint32_t step, bool sends) {
        Handover one;
        one.message = first_message(step) + static_cast<std::uint32_t>(number);
        one.sends = sends;
        one.peer = static_cast<std::uint32_t>(sends ? stage : plan_.ways.pipeline - 1);
        one.bytes = sim::Bytes(kToken * of_last_tokens(parts_.shard).tokens);
        parts_.names.set_part("stage", Pass::forward);
        return one;
    }

    [[nodiscard]] std::uint32_t first_message(std::uint32_t step) const {
        return step *
               static_cast<std::uint32_t>(
                   (layout_.virtual_stages() + 1) * plan_.batch.microbatches + plan_.ways.pipeline);
    }

    /// Messages from virtual stage q to q + 1 are numbered by q and microbatch.
    Handover handover(const PipelineUnit& unit, bool sends) {
        const int here = layout_.virtual_stage(unit.chunk);
        const int from = sends ? here : here - 1;
        Handover one;
        one.message = first_message(step_) +
                      static_cast<std::uint32_t>(from * plan_.batch.microbatches + unit.microbatch);
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
    const std::uint32_t step_;
    const bool last_step_;
    const int stage_;
    const StageLayout layout_;
    ForwardParts parts_;
};

/// Appends a step's operations behind the present ones. An operation that waits for nothing in the
/// step waits for their last. In a pipeline, except in its last stage, the step's first operation
/// receives tokens. Operations that are not received from other stages themselves wait for that.
void append(StepProgram& program, StepProgram step, const std::string& name, bool receives_tokens) {
    const auto shift = static_cast<OpIndex>(program.ops.size());
    const auto move = [&](std::vector<OpIndex>& ops) {
        for (OpIndex& op : ops) {
            op += shift;
        }
    };
    for (Op& op : step.ops) {
        op.name = fmt::format("{} {}", name, op.name);
        for (std::vector<OpIndex>* const ops : {&op.after, &op.needs, &op.limits}) {
            move(*ops);
        }
        if (op.after.empty()) {
            const bool behind_tokens =
                receives_tokens && !std::holds_alternative<Handover>(op.work);
            op.after = op.needs = {behind_tokens ? shift : shift - 1};
        }
        program.ops.push_back(std::move(op));
    }
    for (Buffer& buffer : step.buffers) {
        if (buffer.allocated_at != kWholeStep) {  // weights and cache are held already
            buffer.allocated_at += shift;
            move(buffer.freed_after);
            program.buffers.push_back(std::move(buffer));
        }
    }
    move(step.turns);
    program.turns.insert(program.turns.end(), step.turns.begin(), step.turns.end());
}

}  // namespace

StepProgram build_inference(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks) {
    const std::vector<Inference> steps = steps_of(*plan.inference);
    StepProgram program;
    for (std::size_t step = 0; step < steps.size(); ++step) {
        TrainingPlan of_step = plan;
        of_step.inference = steps[step];
        of_step.batch.tokens = steps[step].tokens();
        if (steps[step].runs.size() == 1) {
            of_step.batch.sequence = steps[step].runs.front().fresh;
        }
        StepProgram built =
            InferenceStage(model, of_step, ranks, step, step + 1 == steps.size()).write();
        if (step == 0) {
            program = std::move(built);
        } else {
            program.first_decode =
                step == 1 ? static_cast<OpIndex>(program.ops.size()) : program.first_decode;
            append(program, std::move(built), fmt::format("token {}", step + 1),
                   ranks.stage + 1 < plan.ways.pipeline);
        }
    }
    return program;
}

}  // namespace podsim::workloads
