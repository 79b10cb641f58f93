#include "workloads/layers/layer.h"

#include <algorithm>
#include <initializer_list>

#include "workloads/layers/rematerialise.h"

namespace podsim::workloads {
namespace {

/// Attention and MLP from the same rows, added up by one ReduceScatter.
LayerBuffers parallel_pass(StepBuilder& builder, Holder& holder, LayerKind kind) {
    LayerBuffers held;
    builder.reduce_norm("layer norm", builder.shard().norms_of_block);
    // A gather that overlaps does so with the larger matmul.
    const Mlp block = dense_mlp(builder.shard());
    const bool mlp_first = builder.plan().overlap.tensor_steps.has_value();
    builder.reads(mlp_first ? Matrix::gate_up : first_projection(builder.shard()));
    const OpIndex rows = builder.gather_rows("layer input");
    Parts gate_up = mlp_first ? mlp_gate_up(builder, block) : Parts{};
    const BlockOps attention = attention_pass(builder, holder, kind, held.attention);
    if (!mlp_first) {
        gate_up = mlp_gate_up(builder, block);
    }
    const BlockOps mlp = mlp_down(builder, holder, block, gate_up, held.mlp);
    const OpIndex output = builder.scatter_rows("layer output", mlp.out);
    builder.hold_between(MemoryClass::buffers, builder.full_rows(), attention.out, mlp.out);
    held.attention_rows = hold_rows(builder, holder, rows, std::max(attention.reads, mlp.reads));
    held.output = holder.saved_output(output);
    return held;
}

LayerBuffers forward_pass(StepBuilder& builder, const Keep& keep, LayerKind kind) {
    Holder holder(builder, keep);
    if (builder.shard().parallel_block) {
        return parallel_pass(builder, holder, kind);
    }
    LayerBuffers held;
    builder.reduce_norm("attention norm", builder.shard().norms_of_block);
    builder.reads(first_projection(builder.shard()));
    const OpIndex rows = builder.gather_rows("attention input");
    const BlockOps attention = attention_pass(builder, holder, kind, held.attention);
    const OpIndex middle = builder.scatter_rows("attention output", attention.out);
    held.attention_rows = hold_rows(builder, holder, rows, attention.reads);
    OpIndex output = 0;
    if (kind.experts) {
        output = expert_pass(builder, holder, held.experts);
    } else {
        builder.reduce_norm("mlp norm", builder.shard().norms_of_block);
        builder.reads(Matrix::gate_up);
        const OpIndex mlp_rows = builder.gather_rows("mlp input");
        const BlockOps mlp = mlp_pass(builder, holder, dense_mlp(builder.shard()), held.mlp);
        output = builder.scatter_rows("mlp output", mlp.out);
        held.mlp_rows = hold_rows(builder, holder, mlp_rows, mlp.reads);
    }
    held.middle = holder.until(LayerTensor::out, builder.local_rows(), middle, output);
    held.output = holder.saved_output(output);
    return held;
}

class Backward {
public:
    Backward(StepBuilder& builder, LayerKind kind, const LayerBuffers& alive)
        : builder_(builder), kind_(kind), alive_(alive) {}

    void run() {
        if (builder_.shard().parallel_block) {
            parallel();
            return;
        }
        if (kind_.experts) {
            expert_block();
        } else {
            mlp_block();
        }
        recompute_before_attention(builder_, kind_, alive_);
        attention_block();
    }

private:
    void expert_block() {
        ExpertBackward(builder_, alive_.experts).run();
        release(builder_.last(), {alive_.middle, alive_.output});
    }

    void mlp_block() {
        MlpBackward mlp(builder_, dense_mlp(builder_.shard()), alive_.mlp);
        builder_.reads(Matrix::down);
        const OpIndex dy = builder_.gather_rows("mlp output gradient");
        hold_rows(dy, mlp.output());
        builder_.reads(Matrix::gate_up);
        const BufferId rows = complete_rows(builder_, alive_.mlp_rows, "mlp input");
        builder_.scatter_rows("mlp input gradient", mlp.input());
        builder_.reduce_norm("mlp norm gradient", builder_.shard().norms_of_block);
        release(mlp.weights(), {rows, alive_.mlp_rows.normed, alive_.middle, alive_.output});
    }

    void attention_block() {
        AttentionBackward attention(builder_, kind_, alive_.attention);
        builder_.reads(Matrix::out);
        const OpIndex dy = builder_.gather_rows("attention output gradient");
        hold_rows(dy, attention.output());
        builder_.reads(Matrix::qkv);
        const BufferId rows = complete_rows(builder_, alive_.attention_rows, "attention input");
        builder_.scatter_rows("attention input gradient", attention.input());
        builder_.reduce_norm("attention norm gradient", builder_.shard().norms_of_block);
        release(attention.weights(), {rows, alive_.attention_rows.normed, alive_.input});
    }

    void parallel() {
        builder_.reads(Matrix::down);
        const OpIndex dy = builder_.gather_rows("layer output gradient");
        MlpBackward mlp(builder_, dense_mlp(builder_.shard()), alive_.mlp);
        mlp.output();
        builder_.reads(Matrix::gate_up);
        const BufferId rows = complete_rows(builder_, alive_.attention_rows, "layer input");
        const OpIndex partial = mlp.input();
        mlp.weights();
        recompute_before_attention(builder_, kind_, alive_);
        AttentionBackward attention(builder_, kind_, alive_.attention);
        hold_rows(dy, attention.output());
        const OpIndex dx = attention.input();
        builder_.scatter_rows("layer input gradient", dx);
        builder_.reduce_norm("layer norm gradient", builder_.shard().norms_of_block);
        builder_.hold_between(MemoryClass::buffers, builder_.full_rows(), partial, dx);
        release(attention.weights(),
                {rows, alive_.attention_rows.normed, alive_.input, alive_.output});
    }

    /// Complete rows of a gradient that exist only because they were gathered.
    void hold_rows(OpIndex from, OpIndex last_use) {
        builder_.hold_between(MemoryClass::buffers, gathered_row_bytes(builder_), from, last_use);
    }

    void release(OpIndex after, std::initializer_list<BufferId> buffers) {
        for (const BufferId buffer : buffers) {
            builder_.release(buffer, after);
        }
    }

    StepBuilder& builder_;
    const LayerKind kind_;
    LayerBuffers alive_;
};

}  // namespace

Mlp dense_mlp(const Shard& shard) {
    return {"", shard.d_ff, !shard.parallel_block, !shard.parallel_block};
}

LayerBuffers recompute_block(StepBuilder& builder, LayerKind kind, BufferId input) {
    builder.set_pass(Pass::recompute);
    LayerBuffers alive = forward_pass(builder, kRecomputed, kind);
    alive.input = input;
    builder.set_pass(Pass::backward);
    return alive;
}

LayerBuffers layer_forward(StepBuilder& builder, LayerKind kind) {
    const OpIndex start = builder.last();
    const Keep keep = saved_by(builder.plan());
    LayerBuffers held = forward_pass(builder, keep, kind);
    held.input = Holder(builder, keep)
                     .until(LayerTensor::input, builder.local_rows(), start, builder.last());
    return held;
}

void layer_backward(StepBuilder& builder, LayerKind kind, LayerBuffers saved) {
    const OpIndex start = builder.last();
    if (builder.plan().remat.policy == RematPolicy::block) {
        saved = recompute_block(builder, kind, saved.input);
    }
    recompute_before_mlp(builder, kind, saved);
    Backward(builder, kind, saved).run();
    // The gradient of the residual stream, this chip's rows.
    builder.hold_between(MemoryClass::buffers, builder.local_rows(), start, builder.last());
}

}  // namespace podsim::workloads
