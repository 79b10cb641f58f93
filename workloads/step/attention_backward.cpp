#include "workloads/step/attention_backward.h"

#include "workloads/work/attention_work.h"

namespace podsim::workloads {
namespace {

/// Returns the gradient of the dot products with a fraction of the keys. Each of these segments
/// moves the queries, the outputs and their gradients.
Compute gradient_part(const Shard& shard, const Compute& whole, double share, bool first) {
    const double queries = activation_bytes(shard, shard.heads * shard.head_dim);
    const double fixed = 2 * (queries + activation_bytes(shard, shard.attended_width()));
    Compute part = whole;
    part.flops = whole.flops * share;
    part.vector = whole.vector * share;
    part.grid_steps = whole.grid_steps * share;
    part.hbm = (whole.hbm - sim::Bytes(fixed)) * share + sim::Bytes(fixed + (first ? 0 : queries));
    part.matmuls[0].m *= share;
    part.matmuls[1].n *= share;
    part.matmuls[2].k *= share;
    part.matmuls[3].m *= share;
    return part;
}

}  // namespace

OpIndex AttentionBackward::output(Arriving& dy) {
    output_gradient(dy);
    const OpIndex dwo = output_weights();
    dot_products();
    return dwo;
}

void AttentionBackward::output_gradient(Arriving& dy) {
    parts_.reads(Matrix::out);
    const Shard& shard = parts_.shard;
    const Tensor da = parts_.matmul("out input gradient", out_input_gradient(shard), dy);
    output_gradient_ = dy.made_by;
    attended_gradient_ =
        parts_.exchange.scatter_transposed("attended gradient", shard.attended_width(), da);
}

OpIndex AttentionBackward::output_weights() {
    parts_.gradients.begin_matrix(Matrix::out);
    complete_attended(parts_, alive_);
    const Tensor dwo = parts_.gradients.write_matrix(
        Matrix::out, "out weight gradient", out_weight_gradient(parts_.shard),
        output_gradient_ + alive_.attended_gathered.made_by);
    parts_.buffers.release(alive_.attended_gathered.buffer, dwo.through);
    parts_.buffers.release(alive_.attended.buffer, dwo.through);
    return dwo.through;
}

void AttentionBackward::dot_products() {
    const Shard& shard = parts_.shard;
    const bool ring = shard.context > 1 && parts_.bounds.context_steps.has_value();
    Arriving kv{alive_.kv_gathered};
    if (!alive_.kv_gathered.kept() || ring) {
        parts_.buffers.release(alive_.kv_gathered.buffer, attended_gradient_.from);
        kv = parts_.exchange.gather_kv("keys and values", alive_.qkv);
        alive_.kv_gathered = held(parts_, kv, gathered_kv_bytes(parts_));
    }
    const Compute whole = attention_backward(shard, parts_.seen(kind_));
    const auto part = [&](std::size_t piece) -> std::optional<Compute> {
        if (!shard.plain) {
            return gradient_part(shard, whole, parts_.bounds.context_steps->pieces[piece].share,
                                 piece == 0);
        }
        const std::optional<int> block = block_of(parts_, piece);
        if (!block) {
            return std::nullopt;
        }
        Compute work = attention_backward_to(shard, *block);
        work.hbm +=
            sim::Bytes(piece == 0 ? 0 : activation_bytes(shard, shard.heads * shard.head_dim));
        return work;
    };
    const Tensor ds =
        over_keys(parts_, kind_, {"attention gradient", whole, part, attention_backward_part, true},
                  kv, made_by(alive_.qkv, alive_.attended, attended_gradient_));
    if (shard.score_bytes > 0) {
        const double scores = score_bytes(shard, kind_.local);
        parts_.buffers.hold_between(MemoryClass::buffers, scores, ds.from, ds.through);
        if (alive_.scores.kept()) {
            parts_.buffers.release(alive_.scores.buffer, ds.through);
        } else {
            parts_.buffers.hold_between(MemoryClass::buffers, scores, ds.from, ds.through);
        }
    }
    gradient_ = parts_.exchange.scatter_kv("key and value gradient", ds);
    parts_.buffers.hold_between(MemoryClass::buffers,
                                activation_bytes(shard, shard.attended_width()),
                                attended_gradient_.from, ds.through);
    for (const Tensor* tensor : {&alive_.qkv, &alive_.kv_gathered, &alive_.attended}) {
        parts_.buffers.release(tensor->buffer, ds.through);
    }
    // The queries' gradients exist with the dot products, those of keys and values once
    // they are scattered.
    gradient_.made_by = made_by(gradient_, ds);
    gradient_.buffer = parts_.buffers.hold(MemoryClass::buffers,
                                           activation_bytes(shard, shard.qkv_width()), ds.through);
}

PartialSums AttentionBackward::input(const Sources& norm_input) {
    up_input();
    up_weights();
    return first_input(norm_input);
}

PartialSums AttentionBackward::first_input(const Sources& norm_input) {
    const Shard& shard = parts_.shard;
    const double bytes = full_row_bytes(shard);
    parts_.reads(first_projection(shard));
    if (shard.latent.width > 0) {
        return parts_.matmul_scattered("latent input gradient", latent_input_gradient(shard), bytes,
                                       latent_gradient_.made_by + norm_input);
    }
    const double width = shard.projected_width();
    gradient_gathered_ =
        held(parts_, parts_.exchange.gather_transposed("qkv gradient", width, gradient_),
             parts_.exchange.transposed_bytes(width));
    return parts_.matmul_scattered("qkv input gradient", qkv_input_gradient(shard), bytes,
                                   gradient_gathered_.made_by + norm_input);
}

void AttentionBackward::up_input() {
    const Shard& shard = parts_.shard;
    if (shard.latent.width == 0) {
        return;
    }
    parts_.reads(Matrix::qkv);
    const Tensor dc = parts_.with_weights("qkv input gradient", qkv_input_gradient(shard),
                                          made_by(gradient_, alive_.latent));
    latent_gradient_ = parts_.exchange.scatter_columns("latent gradient", shard.latent.width, dc);
    latent_gradient_.buffer =
        parts_.buffers.hold(MemoryClass::buffers, latent_bytes(shard), dc.through);
}

void AttentionBackward::up_weights() {
    const Shard& shard = parts_.shard;
    if (shard.latent.width == 0) {
        return;
    }
    parts_.gradients.begin_matrix(Matrix::qkv);
    if (!alive_.latent_gathered.kept()) {
        alive_.latent_gathered = held(
            parts_, parts_.exchange.gather_columns("latents", shard.latent.width, alive_.latent),
            gathered_latent_bytes(parts_));
    }
    const Tensor dw = parts_.gradients.write_matrix(Matrix::qkv, "qkv weight gradient",
                                                    qkv_weight_gradient(shard),
                                                    made_by(gradient_, alive_.latent_gathered));
    for (const Tensor* tensor : {&gradient_, &alive_.latent_gathered, &alive_.latent}) {
        parts_.buffers.release(tensor->buffer, dw.through);
    }
}

OpIndex AttentionBackward::weights(const Tensor& rows) {
    const Shard& shard = parts_.shard;
    const bool latent = shard.latent.width > 0;
    const Tensor dw = parts_.gradients.write_matrix(
        first_projection(shard), latent ? "latent weight gradient" : "qkv weight gradient",
        latent ? latent_weight_gradient(shard) : qkv_weight_gradient(shard),
        made_by(latent ? latent_gradient_ : gradient_gathered_, rows));
    parts_.buffers.release(latent ? latent_gradient_.buffer : gradient_.buffer, dw.through);
    parts_.buffers.release(gradient_gathered_.buffer, dw.through);
    return dw.through;
}

}  // namespace podsim::workloads
