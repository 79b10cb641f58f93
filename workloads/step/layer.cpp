#include "workloads/step/layer.h"

#include <algorithm>

namespace podsim::workloads {
namespace {

/// Runs attention and MLP from the same rows. One ReduceScatter adds them up.
LayerForward parallel_pass(ForwardParts& parts, Holder& holder, LayerKind kind, const Tensor& x) {
    const Shard& shard = parts.shard;
    SavedLayer saved;
    const Tensor normed = parts.exchange.reduce_norm("layer norm", shard.norms_of_block, x);
    // A gather that overlaps does so with the larger matmul.
    const Mlp block = dense_mlp(shard);
    const bool mlp_first = parts.bounds.tensor_steps.has_value();
    parts.reads(mlp_first ? Matrix::gate_up : first_projection(shard));
    Arriving rows = parts.exchange.gather_rows("layer input", normed);
    GateUp gate_up = mlp_first ? mlp_gate_up(parts, block, rows) : GateUp{};
    const AttentionOut attention = attention_pass(parts, holder, kind, rows, saved.attention);
    if (!mlp_first) {
        gate_up = mlp_gate_up(parts, block, rows);
    }
    const PartialSums sums =
        mlp_down(parts, holder, block, gate_up, attention.sums.made_by, saved.mlp);
    const Tensor output = parts.exchange.scatter_rows("layer output", sums);
    parts.buffers.hold_between(MemoryClass::buffers, full_row_bytes(shard), attention.sums.through,
                               sums.through);
    saved.attention_rows =
        hold_rows(parts, holder, normed, rows, std::max(attention.last_read, gate_up.last_read));
    return {saved, output};
}

/// Runs the MLP block, from the rows between the blocks to the rows that are added to them.
Tensor mlp_block(ForwardParts& parts, Holder& holder, LayerKind kind, const Tensor& x,
                 SavedLayer& saved) {
    if (kind.experts) {
        return expert_pass(parts, holder, x, saved.experts);
    }
    const Mlp mlp = dense_mlp(parts.shard);
    const Tensor normed = parts.exchange.reduce_norm("mlp norm", parts.shard.norms_of_block, x);
    parts.reads(Matrix::gate_up);
    Arriving rows = parts.exchange.gather_rows("mlp input", normed);
    const GateUp gate_up = mlp_gate_up(parts, mlp, rows);
    const PartialSums sums = mlp_down(parts, holder, mlp, gate_up, {}, saved.mlp);
    Tensor output = parts.exchange.scatter_rows("mlp output", sums);
    saved.mlp_rows = hold_rows(parts, holder, normed, rows, gate_up.last_read);
    return output;
}

}  // namespace

LayerForward layer_pass(ForwardParts& parts, const Keep& keep, LayerKind kind, const Tensor& x) {
    parts.enter(kind);
    Holder holder(parts, keep);
    const Shard& shard = parts.shard;
    if (shard.parallel_block) {
        return parallel_pass(parts, holder, kind, x);
    }
    SavedLayer saved;
    const Tensor normed = parts.exchange.reduce_norm("attention norm", shard.norms_of_block, x);
    parts.reads(first_projection(shard));
    Arriving rows = parts.exchange.gather_rows("attention input", normed);
    const AttentionOut attention = attention_pass(parts, holder, kind, rows, saved.attention);
    const Tensor middle = parts.exchange.scatter_rows("attention output", attention.sums);
    saved.attention_rows = hold_rows(parts, holder, normed, rows, attention.last_read);
    const Tensor output = mlp_block(parts, holder, kind, middle, saved);
    saved.middle = holder.until(LayerTensor::out, own_row_bytes(shard), middle.through,
                                middle.made_by, output.through);
    saved.output = holder.saved_output(output);
    return {saved, output};
}

LayerForward layer_forward(ForwardParts& parts, const Remat& remat, LayerKind kind,
                           const Tensor& x) {
    const OpIndex start = parts.chain.last();
    const Keep keep = saved_by(
        remat, kind.experts ? parts.shard.read_backward_of_experts : parts.shard.read_backward);
    LayerForward layer = layer_pass(parts, keep, kind, x);
    layer.saved.input = Holder(parts, keep)
                            .until(LayerTensor::input, own_row_bytes(parts.shard), start, x.made_by,
                                   parts.chain.last());
    return layer;
}

void bring_back(const ForwardParts& parts, SavedLayer& saved) {
    for (Tensor* tensor : {&saved.input, &saved.attention.latent, &saved.attention.qkv,
                           &saved.attention.attended, &saved.middle, &saved.mlp.gate_up,
                           &saved.mlp.hidden, &saved.experts.logits, &saved.experts.shared.gate_up,
                           &saved.experts.shared.hidden, &saved.experts.routed.gate_up,
                           &saved.experts.routed.hidden, &saved.experts.output, &saved.output}) {
        parts.host.bring_back(*tensor);
    }
}

}  // namespace podsim::workloads
