#include "workloads/layers/rematerialise.h"

namespace podsim::workloads {
namespace {

BufferId gathered_rows(StepBuilder& builder, std::string_view what) {
    return builder.hold(MemoryClass::buffers, builder.full_rows(), builder.gather_rows(what));
}

void restore_attention(StepBuilder& builder, LayerKind kind, LayerBuffers& alive) {
    if (alive.attention.qkv == kNoBuffer) {
        builder.reads(first_projection(builder.shard()));
        alive.attention_rows.gathered = gathered_rows(builder, "attention input");
        recompute_projections(builder, alive.attention);
    }
    if (alive.attention.attended == kNoBuffer) {
        recompute_attention(builder, kind, alive.attention);
    }
}

/// Attention's dot products wait until their backward pass.
void restore_parallel_matmuls(StepBuilder& builder, LayerBuffers& alive) {
    const bool projections = alive.attention.qkv == kNoBuffer;
    const bool gate_up = alive.mlp.gate_up == kNoBuffer;
    if (projections || gate_up) {
        builder.reads(gate_up ? Matrix::gate_up : first_projection(builder.shard()));
        alive.attention_rows.gathered = gathered_rows(builder, "layer input");
    }
    if (gate_up) {
        Mlp mlp = dense_mlp(builder.shard());
        mlp.normed = !projections;
        recompute_gate_up(builder, mlp, alive.mlp);
    }
    if (projections) {
        recompute_projections(builder, alive.attention);
    }
}

}  // namespace

void recompute_before_mlp(StepBuilder& builder, LayerKind kind, LayerBuffers& alive) {
    builder.set_pass(Pass::recompute);
    if (builder.shard().parallel_block) {
        restore_parallel_matmuls(builder, alive);
    } else {
        if (alive.middle == kNoBuffer) {
            if (alive.attention.attended == kNoBuffer) {
                restore_attention(builder, kind, alive);
            }
            builder.reads(Matrix::out);
            complete_attended(builder, alive.attention);
            const OpIndex out =
                builder.compute_scattered("out", out_forward(builder.shard()), builder.full_rows());
            alive.middle = builder.hold(MemoryClass::buffers, builder.local_rows(),
                                        builder.scatter_rows("attention output", out));
        }
        if (kind.experts && alive.experts.routed.gate_up == kNoBuffer) {
            recompute_experts(builder, alive.experts);
        } else if (!kind.experts && alive.mlp.gate_up == kNoBuffer) {
            builder.reads(Matrix::gate_up);
            alive.mlp_rows.gathered = gathered_rows(builder, "mlp input");
            recompute_gate_up(builder, dense_mlp(builder.shard()), alive.mlp);
        }
    }
    builder.set_pass(Pass::backward);
}

void recompute_before_attention(StepBuilder& builder, LayerKind kind, LayerBuffers& alive) {
    builder.set_pass(Pass::recompute);
    restore_attention(builder, kind, alive);
    builder.set_pass(Pass::backward);
}

}  // namespace podsim::workloads
