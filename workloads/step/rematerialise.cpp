#include "workloads/step/rematerialise.h"

#include "workloads/work/attention_work.h"

namespace podsim::workloads {
namespace {

void restore_attention(ForwardParts& parts, LayerKind kind, SavedLayer& alive) {
    if (!alive.attention.qkv.kept()) {
        parts.reads(first_projection(parts.shard));
        Arriving rows = parts.exchange.gather_rows("attention input", alive.input);
        alive.attention_rows.gathered = held(parts, rows, full_row_bytes(parts.shard));
        recompute_projections(parts, rows, alive.attention);
        alive.attention_rows.gathered.made_by = rows.made_by;
    }
    if (!alive.attention.attended.kept()) {
        recompute_attention(parts, kind, alive.attention);
    }
}

/// Repeats a parallel block's projections and first MLP matmul. Attention's dot products wait until
/// their backward pass.
void restore_parallel_matmuls(ForwardParts& parts, SavedLayer& alive) {
    const bool projections = !alive.attention.qkv.kept();
    const bool gate_up = !alive.mlp.gate_up.kept();
    if (!projections && !gate_up) {
        return;
    }
    parts.reads(gate_up ? Matrix::gate_up : first_projection(parts.shard));
    Arriving rows = parts.exchange.gather_rows("layer input", alive.input);
    alive.attention_rows.gathered = held(parts, rows, full_row_bytes(parts.shard));
    if (gate_up) {
        Mlp mlp = dense_mlp(parts.shard);
        mlp.normed = !projections;
        recompute_gate_up(parts, mlp, rows, alive.mlp);
    }
    if (projections) {
        recompute_projections(parts, rows, alive.attention);
    }
    alive.attention_rows.gathered.made_by = rows.made_by;
}

/// Repeats the output projection, which the norm before the MLP reads.
void restore_middle(ForwardParts& parts, LayerKind kind, SavedLayer& alive) {
    if (!alive.attention.attended.kept()) {
        restore_attention(parts, kind, alive);
    }
    parts.reads(Matrix::out);
    complete_attended(parts, alive.attention);
    const PartialSums out =
        parts.matmul_scattered("out", out_forward(parts.shard), full_row_bytes(parts.shard),
                               alive.attention.attended_gathered.made_by);
    Tensor middle = parts.exchange.scatter_rows("attention output", out);
    middle.from = middle.through;
    alive.middle = held(parts, middle, own_row_bytes(parts.shard));
}

void restore_gate_up(ForwardParts& parts, LayerKind kind, SavedLayer& alive) {
    if (kind.experts && !alive.experts.routed.gate_up.kept()) {
        recompute_experts(parts, alive.mlp_input(), alive.experts);
    } else if (!kind.experts && !alive.mlp.gate_up.kept()) {
        parts.reads(Matrix::gate_up);
        Tensor own;
        own.made_by = alive.mlp_input();
        Arriving rows = parts.exchange.gather_rows("mlp input", own);
        alive.mlp_rows.gathered = held(parts, rows, full_row_bytes(parts.shard));
        recompute_gate_up(parts, dense_mlp(parts.shard), rows, alive.mlp);
        alive.mlp_rows.gathered.made_by = rows.made_by;
    }
}

/// Repeats the block's output if its norm or the router's weights read it.
void restore_output(ForwardParts& parts, LayerKind kind, SavedLayer& alive) {
    if (kind.experts && !alive.experts.returned.kept()) {
        recompute_returned(parts, alive.experts);
    }
    if (!parts.shard.outputs_normed || alive.output.kept()) {
        return;
    }
    Tensor output;
    if (kind.experts) {
        output = recompute_combined(parts, alive.mlp_input(), alive.experts);
    } else {
        const PartialSums sums = recompute_down(parts, dense_mlp(parts.shard), alive.mlp);
        output = parts.exchange.scatter_rows("mlp output", sums);
        output.from = output.through;
    }
    alive.output = held(parts, output, own_row_bytes(parts.shard));
}

}  // namespace

SavedLayer recompute_block(ForwardParts& parts, LayerKind kind, const Tensor& input) {
    parts.names.set_pass(Pass::recompute);
    SavedLayer alive = layer_pass(parts, kRecomputed, kind, input).saved;
    alive.input = input;
    parts.names.set_pass(Pass::backward);
    return alive;
}

void recompute_before_mlp(ForwardParts& parts, LayerKind kind, SavedLayer& alive) {
    parts.names.set_pass(Pass::recompute);
    if (parts.shard.parallel_block) {
        restore_parallel_matmuls(parts, alive);
    } else {
        if (!alive.middle.kept()) {
            restore_middle(parts, kind, alive);
        }
        restore_gate_up(parts, kind, alive);
        restore_output(parts, kind, alive);
    }
    parts.names.set_pass(Pass::backward);
}

void recompute_before_attention(ForwardParts& parts, LayerKind kind, SavedLayer& alive) {
    parts.names.set_pass(Pass::recompute);
    restore_attention(parts, kind, alive);
    parts.names.set_pass(Pass::backward);
}

Tensor through_norm(Tensor dy, const Tensor& output) {
    dy.made_by = made_by(dy, output);
    return dy;
}

Sources source_of(const BlockRows& alive, const Sources& norm_input) {
    return alive.normed.kept() ? alive.normed.made_by : norm_input;
}

Tensor complete_rows(ForwardParts& parts, const BlockRows& alive, const Sources& norm_input,
                     std::string_view what) {
    const bool normed_is_complete = parts.ways.tensor == 1 && alive.normed.kept();
    if (alive.gathered.kept()) {
        return alive.gathered;
    }
    Tensor own;
    own.made_by = source_of(alive, norm_input);
    return normed_is_complete ? own
                              : held(parts, parts.exchange.gather_rows_ahead(what, own),
                                     full_row_bytes(parts.shard));
}

}  // namespace podsim::workloads
