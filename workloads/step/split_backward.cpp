#include "workloads/step/split_backward.h"

#include <utility>

#include "workloads/step/rematerialise.h"

namespace podsim::workloads {

SplitBackward::SplitBackward(StepParts& parts, LayerKind kind, SavedLayer saved)
    : parts_(parts), kind_(kind), alive_(std::move(saved)) {}

Tensor SplitBackward::input_gradients(const Tensor& dy) {
    parts_.enter(kind_);
    const OpIndex start = parts_.chain.last();
    if (parts_.remat.policy == RematPolicy::block) {
        alive_ = recompute_block(parts_, kind_, alive_.input);
    }
    recompute_before_mlp(parts_, kind_, alive_);
    Tensor dx;
    if (parts_.shard.parallel_block) {
        dx = parallel_gradient(dy);
    } else {
        const Tensor middle = block_gradient(through_norm(dy, alive_.output));
        recompute_before_attention(parts_, kind_, alive_);
        parts_.reads(Matrix::out);
        Arriving da = parts_.exchange.gather_rows("attention output gradient", middle);
        attention_rows_ =
            parts_.buffers.hold(MemoryClass::buffers, full_row_bytes(parts_.shard), da.from);
        dx = parts_.exchange.scatter_rows("attention input gradient",
                                          attention_gradient(da, alive_.input.made_by));
        dx =
            parts_.exchange.reduce_norm("attention norm gradient", parts_.shard.norms_of_block, dx);
    }
    // The gradient of the residual stream, this chip's rows.
    parts_.buffers.hold_between(MemoryClass::buffers, own_row_bytes(parts_.shard), start,
                                parts_.chain.last());
    return dx;
}

Tensor SplitBackward::parallel_gradient(const Tensor& dy) {
    const Sources& input = alive_.input.made_by;
    parts_.reads(Matrix::down);
    Arriving complete = parts_.exchange.gather_rows("layer output gradient", dy);
    attention_rows_ =
        parts_.buffers.hold(MemoryClass::buffers, full_row_bytes(parts_.shard), complete.from);
    const PartialSums partial = mlp_gradient(complete);
    recompute_before_attention(parts_, kind_, alive_);
    const PartialSums sums = attention_gradient(complete, input + partial.made_by);
    const Tensor dx = parts_.exchange.scatter_rows("layer input gradient", sums);
    Tensor normed =
        parts_.exchange.reduce_norm("layer norm gradient", parts_.shard.norms_of_block, dx);
    parts_.buffers.hold_between(MemoryClass::buffers, full_row_bytes(parts_.shard), partial.through,
                                sums.through);
    return normed;
}

Tensor SplitBackward::block_gradient(const Tensor& dy) {
    if (kind_.experts) {
        experts_.emplace(parts_, alive_.experts, alive_.mlp_input());
        return experts_->input_gradients(dy);
    }
    parts_.reads(Matrix::down);
    Arriving complete = parts_.exchange.gather_rows("mlp output gradient", dy);
    mlp_rows_ =
        parts_.buffers.hold(MemoryClass::buffers, full_row_bytes(parts_.shard), complete.from);
    const Tensor dx = parts_.exchange.scatter_rows("mlp input gradient", mlp_gradient(complete));
    return parts_.exchange.reduce_norm("mlp norm gradient", parts_.shard.norms_of_block, dx);
}

PartialSums SplitBackward::mlp_gradient(Arriving& dy) {
    mlp_.emplace(parts_, dense_mlp(parts_.shard), alive_.mlp);
    mlp_->hidden_gradient(dy);
    return mlp_->input(alive_.mlp_input());
}

PartialSums SplitBackward::attention_gradient(Arriving& dy, const Sources& input) {
    attention_.emplace(parts_, kind_, alive_.attention);
    attention_->output_gradient(dy);
    attention_->dot_products();
    attention_->up_input();
    return attention_->first_input(input);
}

/// Returns a parallel block's complete rows, which attention's weight gradient reads too.
Tensor SplitBackward::block_weights() {
    if (experts_) {
        experts_->weight_gradients();
        parts_.buffers.release(alive_.middle.buffer, parts_.chain.last());
        return {};
    }
    const bool parallel = parts_.shard.parallel_block;
    parts_.buffers.release(mlp_rows_, mlp_->down_weights());
    const BlockRows& mlp_input = parallel ? alive_.attention_rows : alive_.mlp_rows;
    const Sources& norm_input = parallel ? alive_.input.made_by : alive_.mlp_input();
    Tensor rows =
        complete_rows(parts_, mlp_input, norm_input, parallel ? "layer input" : "mlp input");
    const OpIndex gate_up = mlp_->weights(rows);
    if (parallel) {
        return rows;
    }
    for (const BufferId buffer :
         {rows.buffer, alive_.mlp_rows.normed.buffer, alive_.middle.buffer}) {
        parts_.buffers.release(buffer, gate_up);
    }
    return {};
}

void SplitBackward::weight_gradients() {
    parts_.enter(kind_);
    const Tensor rows = block_weights();
    parts_.buffers.release(attention_rows_, attention_->output_weights());
    const Tensor attention_input =
        parts_.shard.parallel_block
            ? rows
            : complete_rows(parts_, alive_.attention_rows, alive_.input.made_by, "attention input");
    attention_->up_weights();
    const OpIndex end = attention_->weights(attention_input);
    for (const BufferId buffer : {attention_input.buffer, alive_.attention_rows.normed.buffer,
                                  alive_.input.buffer, alive_.output.buffer}) {
        parts_.buffers.release(buffer, end);
    }
}

}  // namespace podsim::workloads
