#include "workloads/step/model_ends.h"

#include <utility>

#include "workloads/plan/plan.h"

namespace podsim::workloads {
namespace {

constexpr double kSoftmaxBytes = 2 * 4;  // a token's maximum and sum, 4 bytes each

}  // namespace

Tensor ModelEnds::embed() {
    parts_.begin_use();
    const Tensor lookup =
        parts_.compute("lookup", embedding_lookup(parts_.shard), parts_.weights.gathered());
    Tensor rows = parts_.exchange.scatter_rows("rows", {lookup});
    parts_.end_use();
    return rows;
}

ModelEnds::Logits ModelEnds::forward(const Tensor& own) {
    const Shard& shard = parts_.shard;
    const Tensor normed = parts_.exchange.reduce_norm("norm", 1, own);
    Logits made;
    made.own = own;
    made.rows = parts_.exchange.gather_rows("input", normed);
    const Tensor partial = parts_.overlap.matmul("logits", RowsWork(shard, logits_forward(shard)),
                                                 made.rows, parts_.weights.gathered());
    made.logits = parts_.exchange.scatter_transposed("logits", shard.vocabulary, partial);
    const Tensor softmax =
        parts_.exchange.all_reduce("softmax", shard.tokens * kSoftmaxBytes, made.logits);
    made.loss = parts_.compute("loss", loss(shard), made_by(made.logits, softmax));
    return made;
}

Tensor ModelEnds::unembed(const Tensor& own) {
    parts_.begin_use();
    Logits made = forward(own);
    if (parts_.plan->forward_only) {
        end_unembedding(made, made.loss.through);
        return {};
    }
    return backward(std::move(made), Adds::last);
}

ModelEnds::Logits ModelEnds::loss_of(const Tensor& rows) {
    parts_.begin_use();
    Logits made = forward(rows);
    parts_.end_use();
    return made;
}

Tensor ModelEnds::gradient_of(const Logits& made, Adds adds) {
    parts_.begin_use();
    return backward(made, adds);
}

Tensor ModelEnds::backward(Logits made, Adds adds) {
    const Shard& shard = parts_.shard;
    if (parts_.plan->logit_chunks > 1) {
        make_again(made);
    }
    parts_.names.set_pass(Pass::backward);
    const Tensor gradient =
        parts_.exchange.gather_transposed("logits gradient", shard.vocabulary, made.loss);
    const Tensor sums = parts_.compute("input gradient", logits_input_gradient(shard),
                                       made_by(gradient, made.own) + parts_.weights.gathered());
    Tensor dx = parts_.exchange.scatter_rows("input gradient", {sums});
    dx = parts_.exchange.reduce_norm("norm gradient", 1, dx);
    // A tied table adds up as the one that is reduced last.
    const char* const group = layout_.tied() && layout_.first() ? "embedding" : "unembedding";
    table_ = parts_.gradients.begin(group, of_unembedding(), std::move(table_));
    const Tensor dw = parts_.gradients.write(
        table_, "weight gradient", logits_weight_gradient(shard), made_by(gradient, made.rows));
    parts_.buffers.hold_between(MemoryClass::buffers,
                                parts_.exchange.transposed_bytes(shard.vocabulary), gradient.from,
                                dw.through);
    // The gradient is held beside the logits, because XLA does not reuse their buffer (two blocks
    // at the peak of Qwen3-235B's step, docs/decisions.md).
    parts_.buffers.hold_between(MemoryClass::buffers, logit_bytes(), made.loss.from, dw.through);
    end_unembedding(made, dw.through);
    if (adds == Adds::last && (!layout_.tied() || !layout_.first())) {
        parts_.gradients.reduce(of_unembedding(), std::exchange(table_, {}));
        parts_.end_turn();
    }
    return dx;
}

void ModelEnds::make_again(Logits& made) {
    const Shard& shard = parts_.shard;
    parts_.names.set_pass(Pass::recompute);
    const Tensor partial = parts_.compute(
        "logits", logits_forward(shard), made_by(made.rows, made.loss) + parts_.weights.gathered());
    const Tensor logits = parts_.exchange.scatter_transposed("logits", shard.vocabulary, partial);
    made.loss = parts_.compute("loss gradient", loss(shard), made_by(logits, made.loss));
}

void ModelEnds::end_unembedding(const Logits& made, OpIndex end) {
    const Shard& shard = parts_.shard;
    parts_.buffers.hold_between(MemoryClass::buffers, full_row_bytes(shard), made.rows.from, end);
    parts_.buffers.hold_between(MemoryClass::buffers, logit_bytes(), made.logits.from, end);
    parts_.buffers.release(made.own.buffer, end);
    parts_.end_use();
}

double ModelEnds::logit_bytes() const {
    const Shard& shard = parts_.shard;
    return shard.tokens * shard.vocabulary * shard.precision.logits / parts_.plan->logit_chunks;
}

void ModelEnds::embedding_backward(const Tensor& dy) {
    parts_.chain.begin_turn();
    parts_.names.set_part("embedding", Pass::backward);
    const bool tied = layout_.tied() && layout_.last();
    Gradients& begun = tied ? table_ : lookups_;
    parts_.gradients.reduce(of_embedding(), scatter_add(dy, std::exchange(begun, {})));
}

void ModelEnds::add_to_embedding(const Tensor& dy) {
    Gradients& begun = layout_.tied() ? table_ : lookups_;
    begun = scatter_add(dy, std::exchange(begun, {}));
}

Gradients ModelEnds::scatter_add(const Tensor& dy, Gradients begun) {
    const Arriving rows = parts_.exchange.gather_rows("gradient", dy);
    const bool written = begun.dense != kNoBuffer;
    Gradients unreduced = parts_.gradients.begin("embedding", of_embedding(), std::move(begun));
    const Tensor added = parts_.gradients.write(unreduced, "scatter-add gradient",
                                                embedding_scatter_add(parts_.shard, written),
                                                parts_.exchange.complete(rows).made_by);
    parts_.buffers.hold_between(MemoryClass::buffers, full_row_bytes(parts_.shard), rows.from,
                                added.through);
    return unreduced;
}

void ModelEnds::hold_table(OpIndex from, OpIndex to) {
    if (!parts_.sharding.dense_axes().empty()) {
        parts_.buffers.hold_between(
            MemoryClass::gathered_weights,
            parts_.sharding.bytes(of_unembedding(), parts_.plan->precision.compute).dense, from,
            to);
    }
}

}  // namespace podsim::workloads
