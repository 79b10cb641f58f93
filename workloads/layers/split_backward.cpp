#include "workloads/layers/split_backward.h"

#include "workloads/layers/rematerialise.h"

namespace podsim::workloads {

SplitBackward::SplitBackward(StepBuilder& builder, LayerKind kind, const LayerBuffers& saved)
    : builder_(builder), kind_(kind), alive_(saved) {}

void SplitBackward::input_gradients() {
    const OpIndex start = builder_.last();
    if (builder_.plan().remat.policy == RematPolicy::block) {
        alive_ = recompute_block(builder_, kind_, alive_.input);
    }
    recompute_before_mlp(builder_, kind_, alive_);
    if (builder_.shard().parallel_block) {
        builder_.reads(Matrix::down);
        const OpIndex dy = builder_.gather_rows("layer output gradient");
        attention_rows_ = builder_.hold(MemoryClass::buffers, builder_.full_rows(), dy);
        mlp_gradient();
        const OpIndex partial = builder_.last();
        recompute_before_attention(builder_, kind_, alive_);
        attention_gradient();
        const OpIndex dx = builder_.last();
        builder_.scatter_rows("layer input gradient", dx);
        builder_.reduce_norm("layer norm gradient", builder_.shard().norms_of_block);
        builder_.hold_between(MemoryClass::buffers, builder_.full_rows(), partial, dx);
    } else {
        block_gradient();
        recompute_before_attention(builder_, kind_, alive_);
        builder_.reads(Matrix::out);
        const OpIndex da = builder_.gather_rows("attention output gradient");
        attention_rows_ = builder_.hold(MemoryClass::buffers, builder_.full_rows(), da);
        attention_gradient();
        builder_.scatter_rows("attention input gradient", builder_.last());
        builder_.reduce_norm("attention norm gradient", builder_.shard().norms_of_block);
    }
    // The gradient of the residual stream, this chip's rows.
    builder_.hold_between(MemoryClass::buffers, builder_.local_rows(), start, builder_.last());
}

/// The MLP's or the experts' block.
void SplitBackward::block_gradient() {
    if (kind_.experts) {
        experts_.emplace(builder_, alive_.experts);
        experts_->input_gradients();
        return;
    }
    builder_.reads(Matrix::down);
    const OpIndex dy = builder_.gather_rows("mlp output gradient");
    mlp_rows_ = builder_.hold(MemoryClass::buffers, builder_.full_rows(), dy);
    mlp_gradient();
    builder_.scatter_rows("mlp input gradient", builder_.last());
    builder_.reduce_norm("mlp norm gradient", builder_.shard().norms_of_block);
}

void SplitBackward::mlp_gradient() {
    mlp_.emplace(builder_, dense_mlp(builder_.shard()), alive_.mlp);
    mlp_->hidden_gradient();
    mlp_->input();
}

void SplitBackward::attention_gradient() {
    attention_.emplace(builder_, kind_, alive_.attention);
    attention_->dot_products(attention_->output_gradient());
    attention_->up_input();
    attention_->first_input();
}

/// Returns a parallel block's complete rows, which attention's weight gradient reads too.
BufferId SplitBackward::block_weights() {
    if (experts_) {
        experts_->weight_gradients();
        builder_.release(alive_.middle, builder_.last());
        return kNoBuffer;
    }
    const bool parallel = builder_.shard().parallel_block;
    const OpIndex down = mlp_->down_weights();
    builder_.release(mlp_rows_, down);
    const RowBuffers& mlp_input = parallel ? alive_.attention_rows : alive_.mlp_rows;
    const BufferId rows =
        complete_rows(builder_, mlp_input, parallel ? "layer input" : "mlp input");
    const OpIndex gate_up = mlp_->weights();
    if (parallel) {
        return rows;
    }
    for (const BufferId buffer : {rows, alive_.mlp_rows.normed, alive_.middle}) {
        builder_.release(buffer, gate_up);
    }
    return kNoBuffer;
}

void SplitBackward::weight_gradients() {
    const BufferId rows = block_weights();
    builder_.release(attention_rows_, attention_->output_weights());
    const BufferId attention_input =
        builder_.shard().parallel_block
            ? rows
            : complete_rows(builder_, alive_.attention_rows, "attention input");
    attention_->up_weights();
    const OpIndex end = attention_->weights();
    for (const BufferId buffer :
         {attention_input, alive_.attention_rows.normed, alive_.input, alive_.output}) {
        builder_.release(buffer, end);
    }
}

}  // namespace podsim::workloads
