#include "workloads/step/layer_backward.h"

#include <initializer_list>
#include <utility>

#include "workloads/step/attention_backward.h"
#include "workloads/step/experts_backward.h"
#include "workloads/step/mlp_backward.h"
#include "workloads/step/rematerialise.h"

namespace podsim::workloads {
namespace {

class Backward {
public:
    Backward(StepParts& parts, LayerKind kind, SavedLayer alive)
        : parts_(parts), kind_(kind), alive_(std::move(alive)) {}

    Tensor run(const Tensor& dy) {
        if (parts_.shard.parallel_block) {
            return parallel(dy);
        }
        const Tensor normed = through_norm(dy, alive_.output);
        const Tensor middle = kind_.experts ? expert_block(normed) : mlp_block(normed);
        recompute_before_attention(parts_, kind_, alive_);
        return attention_block(middle);
    }

private:
    Tensor expert_block(const Tensor& dy) {
        Tensor dx = ExpertBackward(parts_, alive_.experts, alive_.mlp_input()).run(dy);
        release(parts_.chain.last(), {alive_.middle.buffer, alive_.output.buffer});
        return dx;
    }

    Tensor mlp_block(const Tensor& dy) {
        MlpBackward mlp(parts_, dense_mlp(parts_.shard), alive_.mlp);
        parts_.reads(Matrix::down);
        Arriving complete = parts_.exchange.gather_rows("mlp output gradient", dy);
        hold_rows(complete.from, mlp.output(complete));
        parts_.reads(Matrix::gate_up);
        const Tensor rows = complete_rows(parts_, alive_.mlp_rows, alive_.mlp_input(), "mlp input");
        Tensor dx =
            parts_.exchange.scatter_rows("mlp input gradient", mlp.input(alive_.mlp_input()));
        dx = parts_.exchange.reduce_norm("mlp norm gradient", parts_.shard.norms_of_block, dx);
        release(mlp.weights(rows), {rows.buffer, alive_.mlp_rows.normed.buffer,
                                    alive_.middle.buffer, alive_.output.buffer});
        return dx;
    }

    Tensor attention_block(const Tensor& dy) {
        const Sources& input = alive_.input.made_by;
        AttentionBackward attention(parts_, kind_, alive_.attention);
        parts_.reads(Matrix::out);
        Arriving complete = parts_.exchange.gather_rows("attention output gradient", dy);
        hold_rows(complete.from, attention.output(complete));
        parts_.reads(Matrix::qkv);
        const Tensor rows = complete_rows(parts_, alive_.attention_rows, input, "attention input");
        Tensor dx =
            parts_.exchange.scatter_rows("attention input gradient", attention.input(input));
        dx =
            parts_.exchange.reduce_norm("attention norm gradient", parts_.shard.norms_of_block, dx);
        release(attention.weights(rows),
                {rows.buffer, alive_.attention_rows.normed.buffer, alive_.input.buffer});
        return dx;
    }

    Tensor parallel(const Tensor& dy) {
        const Sources& input = alive_.input.made_by;
        parts_.reads(Matrix::down);
        Arriving complete = parts_.exchange.gather_rows("layer output gradient", dy);
        MlpBackward mlp(parts_, dense_mlp(parts_.shard), alive_.mlp);
        mlp.output(complete);
        parts_.reads(Matrix::gate_up);
        const Tensor rows = complete_rows(parts_, alive_.attention_rows, input, "layer input");
        const PartialSums partial = mlp.input(input);
        mlp.weights(rows);
        recompute_before_attention(parts_, kind_, alive_);
        AttentionBackward attention(parts_, kind_, alive_.attention);
        hold_rows(complete.from, attention.output(complete));
        const PartialSums sums = attention.input(input + partial.made_by);
        Tensor dx = parts_.exchange.scatter_rows("layer input gradient", sums);
        dx = parts_.exchange.reduce_norm("layer norm gradient", parts_.shard.norms_of_block, dx);
        parts_.buffers.hold_between(MemoryClass::buffers, full_row_bytes(parts_.shard),
                                    partial.through, sums.through);
        release(attention.weights(rows),
                {rows.buffer, alive_.attention_rows.normed.buffer, alive_.input.buffer});
        return dx;
    }

    /// Holds complete rows of a gradient that exist only because they were gathered.
    void hold_rows(OpIndex from, OpIndex last_use) {
        parts_.buffers.hold_between(MemoryClass::buffers, gathered_row_bytes(parts_), from,
                                    last_use);
    }

    void release(OpIndex after, std::initializer_list<BufferId> buffers) {
        for (const BufferId buffer : buffers) {
            parts_.buffers.release(buffer, after);
        }
    }

    StepParts& parts_;
    const LayerKind kind_;
    SavedLayer alive_;
};

}  // namespace

Tensor layer_backward(StepParts& parts, const Remat& remat, LayerKind kind, SavedLayer saved,
                      const Tensor& dy) {
    parts.enter(kind);
    const OpIndex start = parts.chain.last();
    if (remat.policy == RematPolicy::block) {
        saved = recompute_block(parts, kind, saved.input);
    }
    recompute_before_mlp(parts, kind, saved);
    Tensor dx = Backward(parts, kind, std::move(saved)).run(dy);
    // The gradient of the residual stream, this chip's rows.
    parts.buffers.hold_between(MemoryClass::buffers, own_row_bytes(parts.shard), start,
                               parts.chain.last());
    return dx;
}

}  // namespace podsim::workloads
