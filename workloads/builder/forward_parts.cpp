#include "workloads/builder/forward_parts.h"

#include <utility>

#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {

ForwardParts::ForwardParts(const ModelSpec& model, const TrainingPlan& of_step, const Ranks& ranks,
                           std::vector<WeightUse> uses)
    : plan(std::make_shared<const TrainingPlan>(of_step)),
      ways(plan->ways),
      remat(plan->remat),
      bounds(plan->overlap),
      shard(make_shard(model, *plan, ranks)),
      sharding(model, ways, bounds.weights, plan->inference.has_value()),
      names(plan->batch.microbatches),
      chain(bounds, names),
      weights(bounds, plan->precision, sharding, names, chain, buffers, std::move(uses)),
      host(bounds, weights, names, chain, buffers),
      overlap(bounds, ways.tensor, shard, names, chain, buffers),
      exchange(ways, plan->experts, shard, overlap, names, chain, buffers),
      window(shard, names, chain, buffers),
      messages(shard, names, chain, buffers) {
    if (model.global != GlobalAttention{}) {
        of_kinds_ = {make_shard(model, *plan, ranks, false), shard};
    }
}

void ForwardParts::enter(LayerKind kind) {
    if (!of_kinds_.empty()) {
        shard = of_kinds_[kind.local ? 1 : 0];
    }
}

const Seen& ForwardParts::seen(LayerKind kind) {
    std::optional<Seen>& known = seen_[kind.local ? 1 : 0];
    if (!known) {
        known = seen_by_chip(shard, kind.local);
    }
    return *known;
}

void ForwardParts::begin_unit(int microbatch) {
    names.set_microbatch(microbatch);
    chain.begin_unit();
    chain.begin_turn();
    messages.begin_unit();
}

void ForwardParts::begin_use() {
    chain.begin_turn();
    weights.begin_use();
    host.begin_stretch();
}

void ForwardParts::reads(Matrix matrix) {
    if (weights.reads(matrix)) {
        host.begin_stretch();
    }
}

Tensor ForwardParts::compute(std::string_view what, Compute work, Sources needs) {
    const OpIndex op = chain.compute(what, std::move(work), std::move(needs));
    return {op, op, {op}};
}

Tensor ForwardParts::with_weights(std::string_view what, Compute work, Sources needs) {
    Tensor made = compute(what, std::move(work), std::move(needs) + weights.gathered());
    weights.were_read();
    return made;
}

Tensor ForwardParts::matmul(std::string_view what, const RowsWork& work, Arriving& rows,
                            Sources others) {
    Tensor made = overlap.matmul(what, work, rows, std::move(others) + weights.gathered());
    weights.were_read();
    return made;
}

PartialSums ForwardParts::matmul_scattered(std::string_view what, const RowsWork& work,
                                           double bytes, Sources needs) {
    if (shard.precision.finds_scales() && work.whole().dtype != MatmulDtype::bf16) {
        // What is contracted is split: scales of rows and columns are those of all parts.
        constexpr double kMagnitude = 4;  // bytes
        needs = exchange
                    .all_reduce(words("scales of", what), work.scales() * kMagnitude,
                                {chain.next(), chain.next(), std::move(needs)})
                    .made_by;
    }
    PartialSums made =
        overlap.matmul_scattered(what, work, bytes, std::move(needs) + weights.gathered());
    weights.were_read();
    return made;
}

StepProgram ForwardParts::finish() {
    StepProgram program = chain.finish();
    program.buffers = buffers.finish();
    return program;
}

}  // namespace podsim::workloads
