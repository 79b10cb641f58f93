#include "workloads/layers/attention.h"

namespace podsim::workloads {
namespace {

/// Bytes of complete keys and values that had to be gathered; otherwise they are those of qkv. In ring
/// attention they are never there at once (step_builder_overlap.cpp).
double gathered_kv_bytes(const StepBuilder& builder) {
    const Shard& shard = builder.shard();
    if (shard.context > 1 && builder.plan().overlap.context_steps) {
        return shard.kv_split_by_columns
                   ? shard.kv_elements() / shard.context * shard.precision.compute
                   : 0;
    }
    return shard.context > 1 || shard.kv_split_by_columns
               ? shard.kv_elements() * shard.precision.compute
               : 0;
}

/// Bytes of this chip's columns of the latents, and of the complete ones that had to be gathered.
double latent_bytes(const Shard& shard) {
    return activation_bytes(shard, shard.latent.columns());
}
double gathered_latent_bytes(const StepBuilder& builder) {
    const Shard& shard = builder.shard();
    return builder.plan().ways.tensor > 1 ? activation_bytes(shard, shard.latent.width) : 0;
}

/// A share of the keys of attention's dot products: queries and outputs are read, and partial outputs
/// (later parts read them too) written, in every part.
Compute forward_part(const Shard& shard, const Compute& whole, double share, bool first) {
    const double queries = activation_bytes(shard, shard.heads * shard.head_dim);
    const double outputs = activation_bytes(shard, shard.attended_width());
    Compute part = whole;
    part.flops = whole.flops * share;
    part.vector = whole.vector * share;
    part.hbm = (whole.hbm - sim::Bytes(queries + outputs)) * share +
               sim::Bytes(queries + outputs + (first ? 0 : outputs));
    part.matmuls[0].n *= share;
    part.matmuls[1].k *= share;
    return part;
}

/// The same of the gradient: queries, outputs and their gradients in every part.
Compute gradient_part(const Shard& shard, const Compute& whole, double share, bool first) {
    const double queries = activation_bytes(shard, shard.heads * shard.head_dim);
    const double fixed = 2 * (queries + activation_bytes(shard, shard.attended_width()));
    Compute part = whole;
    part.flops = whole.flops * share;
    part.vector = whole.vector * share;
    part.hbm = (whole.hbm - sim::Bytes(fixed)) * share + sim::Bytes(fixed + (first ? 0 : queries));
    part.matmuls[0].m *= share;
    part.matmuls[1].n *= share;
    part.matmuls[2].k *= share;
    part.matmuls[3].m *= share;
    return part;
}

/// The block of keys that comes in a round of ring attention; nothing where no query of this chip sees it.
std::optional<int> block_of(const StepBuilder& builder, std::size_t piece) {
    const int rank = builder.shard().rank;
    const int block = builder.plan().overlap.context_steps->source(rank, piece);
    return block <= rank ? std::optional(block) : std::nullopt;
}

/// Whether keys and values come in a ring to a window.
bool in_window_ring(const StepBuilder& builder, LayerKind kind) {
    return builder.shard().context > 1 && builder.plan().overlap.context_steps &&
           windowed(builder.shard(), kind.local);
}

/// Attention to a window, or its gradient, round by round.
OpIndex over_window(StepBuilder& builder, std::string_view what, bool gradient) {
    const Shard& shard = builder.shard();
    const WindowRing ring(shard);
    const auto part = [&](std::size_t round) -> std::optional<Compute> {
        const auto pairs = ring.pairs(shard.rank, static_cast<int>(round));
        if (pairs.empty()) {
            return std::nullopt;
        }
        return gradient ? attention_backward_part(shard, pairs, round == 0)
                        : attention_forward_part(shard, pairs, round == 0);
    };
    return builder.compute_over_window(what, ring, part, gradient);
}

OpIndex attend(StepBuilder& builder, LayerKind kind) {
    if (in_window_ring(builder, kind)) {
        return over_window(builder, "attention", false);
    }
    const Shard& shard = builder.shard();
    const Compute whole = attention_forward(shard, kind.local);
    const auto part = [&](std::size_t piece) -> std::optional<Compute> {
        if (!shard.plain) {
            return forward_part(shard, whole,
                                builder.plan().overlap.context_steps->pieces[piece].share,
                                piece == 0);
        }
        const std::optional<int> block = block_of(builder, piece);
        if (!block) {
            return std::nullopt;
        }
        Compute work = attention_forward_to(shard, *block);
        work.hbm += sim::Bytes(piece == 0 ? 0 : activation_bytes(shard, shard.attended_width()));
        return work;
    };
    return builder.compute_over_keys("attention", whole, part, false);
}

}  // namespace

BlockOps attention_pass(StepBuilder& builder, Holder& holder, LayerKind kind,
                        AttentionBuffers& held) {
    const Shard& shard = builder.shard();
    const Keep& keep = holder.keep();
    BlockOps ops;
    OpIndex latent = 0;
    OpIndex latents = 0;
    builder.reads(first_projection(shard));
    if (shard.latent.width > 0) {
        latent = ops.reads = builder.compute("latent", latent_forward(shard));
        builder.reads(Matrix::qkv);
        latents = builder.gather_columns("latents", shard.latent.width);
    }
    const OpIndex first = builder.next();  // of its parts
    const OpIndex qkv = builder.compute("qkv", qkv_forward(shard));
    const OpIndex own = builder.scatter_transposed("qkv", shard.qkv_width(), first);
    if (shard.latent.width > 0) {
        held.latent = holder.until(LayerTensor::qkv, latent_bytes(shard), latent, qkv);
        held.latent_gathered =
            holder.until(keep.gathered, gathered_latent_bytes(builder), latents, qkv);
    } else {
        ops.reads = qkv;
    }
    const OpIndex kv = builder.gather_kv("keys and values");
    const OpIndex attention = attend(builder, kind);
    const double attended = shard.attended_width();
    builder.reads(Matrix::out);
    const OpIndex gathered = builder.gather_transposed("attended", attended);
    // In a parallel block the MLP's rows are added before they are scattered.
    ops.out = shard.parallel_block
                  ? builder.compute("out", out_forward(shard))
                  : builder.compute_scattered("out", out_forward(shard), builder.full_rows());
    held.qkv =
        holder.until(LayerTensor::qkv, activation_bytes(shard, shard.qkv_width()), own, attention);
    held.kv_gathered = holder.until(keep.gathered, gathered_kv_bytes(builder), kv, attention);
    held.attended_gathered =
        holder.until(keep.gathered, builder.transposed_bytes(attended), gathered, ops.out);
    held.attended =
        holder.until(LayerTensor::attended, activation_bytes(shard, attended), attention, ops.out);
    return ops;
}

void recompute_projections(StepBuilder& builder, AttentionBuffers& alive) {
    const Shard& shard = builder.shard();
    builder.reads(first_projection(shard));
    if (shard.latent.width > 0) {
        alive.latent = builder.hold(MemoryClass::buffers, latent_bytes(shard),
                                    builder.compute("latent", latent_forward(shard)));
        builder.reads(Matrix::qkv);
        alive.latent_gathered = builder.hold(MemoryClass::buffers, gathered_latent_bytes(builder),
                                             builder.gather_columns("latents", shard.latent.width));
    }
    const OpIndex first = builder.next();
    builder.compute("qkv", qkv_forward(shard));
    alive.qkv = builder.hold(MemoryClass::buffers, activation_bytes(shard, shard.qkv_width()),
                             builder.scatter_transposed("qkv", shard.qkv_width(), first));
}

void complete_attended(StepBuilder& builder, AttentionBuffers& alive) {
    const double width = builder.shard().attended_width();
    if (alive.attended_gathered == kNoBuffer) {
        alive.attended_gathered =
            builder.hold(MemoryClass::buffers, builder.transposed_bytes(width),
                         builder.gather_transposed("attended", width));
    }
}

void recompute_attention(StepBuilder& builder, LayerKind kind, AttentionBuffers& alive) {
    const Shard& shard = builder.shard();
    alive.kv_gathered = builder.hold(MemoryClass::buffers, gathered_kv_bytes(builder),
                                     builder.gather_kv("keys and values"));
    const OpIndex attention = attend(builder, kind);
    alive.attended = builder.hold(MemoryClass::buffers,
                                  activation_bytes(shard, shard.attended_width()), attention);
}

OpIndex AttentionBackward::output() {
    const OpIndex da = output_gradient();
    const OpIndex dwo = output_weights();
    dot_products(da);
    return dwo;
}

OpIndex AttentionBackward::output_gradient() {
    builder_.reads(Matrix::out);
    const OpIndex first = builder_.next();  // of its parts
    const Shard& shard = builder_.shard();
    builder_.compute("out input gradient", out_input_gradient(shard));
    return builder_.scatter_transposed("attended gradient", shard.attended_width(), first);
}

OpIndex AttentionBackward::output_weights() {
    builder_.begin_gradient(Matrix::out);
    complete_attended(builder_, alive_);
    const OpIndex dwo =
        builder_.compute("out weight gradient", out_weight_gradient(builder_.shard()));
    builder_.end_gradient(Matrix::out);
    builder_.release(alive_.attended_gathered, dwo);
    builder_.release(alive_.attended, dwo);
    return dwo;
}

void AttentionBackward::dot_products(OpIndex output_gradient) {
    const Shard& shard = builder_.shard();
    const bool ring = shard.context > 1 && builder_.plan().overlap.context_steps.has_value();
    if (alive_.kv_gathered == kNoBuffer || ring) {
        builder_.release(alive_.kv_gathered, output_gradient);
        alive_.kv_gathered = builder_.hold(MemoryClass::buffers, gathered_kv_bytes(builder_),
                                           builder_.gather_kv("keys and values"));
    }
    const Compute whole = attention_backward(shard, kind_.local);
    const auto part = [&](std::size_t piece) -> std::optional<Compute> {
        if (!shard.plain) {
            return gradient_part(shard, whole,
                                 builder_.plan().overlap.context_steps->pieces[piece].share,
                                 piece == 0);
        }
        const std::optional<int> block = block_of(builder_, piece);
        if (!block) {
            return std::nullopt;
        }
        Compute work = attention_backward_to(shard, *block);
        work.hbm +=
            sim::Bytes(piece == 0 ? 0 : activation_bytes(shard, shard.heads * shard.head_dim));
        return work;
    };
    const OpIndex ds = in_window_ring(builder_, kind_)
                           ? over_window(builder_, "attention gradient", true)
                           : builder_.compute_over_keys("attention gradient", whole, part, true);
    builder_.scatter_kv("key and value gradient", ds);
    builder_.hold_between(MemoryClass::buffers, activation_bytes(shard, shard.attended_width()),
                          output_gradient, ds);
    for (const BufferId buffer : {alive_.qkv, alive_.kv_gathered, alive_.attended}) {
        builder_.release(buffer, ds);
    }
    gradient_ = builder_.hold(MemoryClass::buffers, activation_bytes(shard, shard.qkv_width()), ds);
}

OpIndex AttentionBackward::input() {
    up_input();
    up_weights();
    return first_input();
}

OpIndex AttentionBackward::first_input() {
    const Shard& shard = builder_.shard();
    builder_.reads(first_projection(shard));
    if (shard.latent.width > 0) {
        return builder_.compute_scattered("latent input gradient", latent_input_gradient(shard),
                                          builder_.full_rows());
    }
    gradient_gathered_ =
        builder_.hold(MemoryClass::buffers, builder_.transposed_bytes(shard.qkv_width()),
                      builder_.gather_transposed("qkv gradient", shard.qkv_width()));
    return builder_.compute_scattered("qkv input gradient", qkv_input_gradient(shard),
                                      builder_.full_rows());
}

void AttentionBackward::up_input() {
    const Shard& shard = builder_.shard();
    if (shard.latent.width == 0) {
        return;
    }
    builder_.reads(Matrix::qkv);
    const OpIndex dc = builder_.compute("qkv input gradient", qkv_input_gradient(shard));
    builder_.scatter_columns("latent gradient", shard.latent.width, dc);
    latent_gradient_ = builder_.hold(MemoryClass::buffers, latent_bytes(shard), dc);
}

void AttentionBackward::up_weights() {
    const Shard& shard = builder_.shard();
    if (shard.latent.width == 0) {
        return;
    }
    builder_.begin_gradient(Matrix::qkv);
    if (alive_.latent_gathered == kNoBuffer) {
        alive_.latent_gathered =
            builder_.hold(MemoryClass::buffers, gathered_latent_bytes(builder_),
                          builder_.gather_columns("latents", shard.latent.width));
    }
    const OpIndex dw = builder_.compute("qkv weight gradient", qkv_weight_gradient(shard));
    builder_.end_gradient(Matrix::qkv);
    for (const BufferId buffer : {gradient_, alive_.latent_gathered, alive_.latent}) {
        builder_.release(buffer, dw);
    }
}

OpIndex AttentionBackward::weights() {
    const Shard& shard = builder_.shard();
    builder_.begin_gradient(first_projection(shard));
    builder_.await_rows();
    const OpIndex end =
        shard.latent.width > 0
            ? builder_.compute("latent weight gradient", latent_weight_gradient(shard))
            : builder_.compute("qkv weight gradient", qkv_weight_gradient(shard));
    builder_.end_gradient(first_projection(shard));
    builder_.release(shard.latent.width > 0 ? latent_gradient_ : gradient_, end);
    builder_.release(gradient_gathered_, end);
    return end;
}

}  // namespace podsim::workloads
