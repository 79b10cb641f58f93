#include "workloads/step/attention.h"

#include "workloads/work/attention_work.h"

namespace podsim::workloads {
namespace {

/// Returns the dot products with a fraction of the keys. Each of these segments reads the queries
/// and outputs and writes partial outputs; later segments read these too.
Compute forward_part(const Shard& shard, const Compute& whole, double share, bool first) {
    const double queries = activation_bytes(shard, shard.heads * shard.head_dim);
    const double outputs = activation_bytes(shard, shard.attended_width());
    Compute part = whole;
    part.flops = whole.flops * share;
    part.vector = whole.vector * share;
    part.grid_steps = whole.grid_steps * share;
    part.hbm = (whole.hbm - sim::Bytes(queries + outputs)) * share +
               sim::Bytes(queries + outputs + (first ? 0 : outputs));
    part.matmuls[0].n *= share;
    part.matmuls[1].k *= share;
    return part;
}

/// True if keys and values come in a ring to a window.
bool in_window_ring(const ForwardParts& parts, LayerKind kind) {
    return parts.shard.context > 1 && parts.bounds.context_steps &&
           windowed(parts.shard, kind.local);
}

Tensor attend(ForwardParts& parts, LayerKind kind, const Arriving& keys, const Tensor& qkv) {
    const Shard& shard = parts.shard;
    const Compute whole = attention_forward(shard, parts.seen(kind));
    const auto part = [&](std::size_t piece) -> std::optional<Compute> {
        if (!shard.plain) {
            return forward_part(shard, whole, parts.bounds.context_steps->pieces[piece].share,
                                piece == 0);
        }
        const std::optional<int> block = block_of(parts, piece);
        if (!block) {
            return std::nullopt;
        }
        Compute work = attention_forward_to(shard, *block);
        work.hbm += sim::Bytes(piece == 0 ? 0 : activation_bytes(shard, shard.attended_width()));
        return work;
    };
    return over_keys(parts, kind, {"attention", whole, part, attention_forward_part}, keys,
                     qkv.made_by);
}

/// Returns this chip's columns of the latents, from the complete rows.
Tensor project_latent(ForwardParts& parts, Arriving& rows) {
    parts.reads(Matrix::latent);
    return parts.matmul("latent", latent_forward(parts.shard), rows);
}

/// Returns the complete latents.
Tensor gather_latents(ForwardParts& parts, const Tensor& latent) {
    parts.reads(Matrix::qkv);
    return parts.exchange.gather_columns("latents", parts.shard.latent.width, latent);
}

/// Queries, keys and values of complete latents or rows, and this chip's own after
/// tensor_transpose adds them up.
struct Heads {
    Tensor qkv;
    Tensor own;
};
Heads project_heads(ForwardParts& parts, const Tensor& latents, Arriving& rows) {
    const Shard& shard = parts.shard;
    parts.reads(Matrix::qkv);
    const Compute work = qkv_forward(shard);
    Heads made;
    made.qkv = shard.latent.width > 0 ? parts.with_weights("qkv", work, latents.made_by)
                                      : parts.matmul("qkv", work, rows);
    made.own = parts.exchange.scatter_transposed("qkv", shard.projected_width(), made.qkv);
    return made;
}

}  // namespace

double gathered_kv_bytes(const ForwardParts& parts) {
    const Shard& shard = parts.shard;
    if (shard.context > 1 && parts.bounds.context_steps) {
        return shard.kv_split_by_columns
                   ? shard.kv_elements() / shard.context * shard.precision.compute
                   : 0;
    }
    return shard.context > 1 || shard.kv_split_by_columns
               ? shard.kv_elements() * shard.precision.compute
               : 0;
}

double latent_bytes(const Shard& shard) {
    return activation_bytes(shard, shard.latent.columns());
}

double gathered_latent_bytes(const ForwardParts& parts) {
    return parts.ways.tensor > 1 ? activation_bytes(parts.shard, parts.shard.latent.width) : 0;
}

std::optional<int> block_of(const ForwardParts& parts, std::size_t piece) {
    const int rank = parts.shard.rank;
    const int block = parts.bounds.context_steps->source(rank, piece);
    return block <= rank ? std::optional(block) : std::nullopt;
}

Tensor over_keys(ForwardParts& parts, LayerKind kind, const AttentionWork& work,
                 const Arriving& keys, const Sources& others) {
    if (!in_window_ring(parts, kind)) {
        return parts.overlap.over_keys(work.what, work.whole, keys, others, work.part,
                                       work.gradient);
    }
    const Shard& shard = parts.shard;
    const WindowRing ring(shard);
    const auto part = [&](std::size_t round) -> std::optional<Compute> {
        const auto pairs = ring.pairs(shard.rank, static_cast<int>(round));
        return pairs.empty() ? std::nullopt
                             : std::optional(work.of_pairs(shard, pairs, round == 0));
    };
    return parts.window.over_window(work.what, ring, keys, others, part, work.gradient);
}

AttentionOut attention_pass(ForwardParts& parts, Holder& holder, LayerKind kind, Arriving& rows,
                            SavedAttention& saved) {
    const Shard& shard = parts.shard;
    const Keep& keep = holder.keep();
    const bool has_latent = shard.latent.width > 0;
    const Tensor latent = has_latent ? project_latent(parts, rows) : Tensor{};
    const Tensor latents = has_latent ? gather_latents(parts, latent) : Tensor{};
    const Heads made = project_heads(parts, latents, rows);
    AttentionOut out;
    out.last_read = has_latent ? latent.through : made.qkv.through;
    if (has_latent) {
        saved.latent = holder.until(LayerTensor::qkv, latent_bytes(shard), latent.through,
                                    latent.made_by, made.qkv.through);
        saved.latent_gathered = holder.until(keep.gathered, gathered_latent_bytes(parts),
                                             latents.from, latents.made_by, made.qkv.through);
    }
    const Arriving kv = parts.exchange.gather_kv("keys and values", made.own);
    const Tensor attention = attend(parts, kind, kv, made.own);
    if (shard.score_bytes > 0) {
        saved.scores = holder.until(keep.gathered || keep.normed, score_bytes(shard, kind.local),
                                    attention.from, attention.made_by, attention.through);
    }
    const double attended = shard.attended_width();
    parts.reads(Matrix::out);
    const Tensor gathered = parts.exchange.gather_transposed("attended", attended, attention);
    // In a parallel block the MLP's rows are added before they are scattered.
    out.sums = shard.parallel_block
                   ? PartialSums{parts.with_weights("out", out_forward(shard), gathered.made_by)}
                   : parts.matmul_scattered("out", out_forward(shard), full_row_bytes(shard),
                                            gathered.made_by);
    const OpIndex end = out.sums.through;
    saved.qkv = holder.until(LayerTensor::qkv, activation_bytes(shard, shard.qkv_width()),
                             made.own.from, made.own.made_by, attention.through);
    saved.kv_gathered = holder.until(keep.gathered, gathered_kv_bytes(parts), kv.from, kv.made_by,
                                     attention.through);
    saved.attended_gathered = holder.until(keep.gathered, parts.exchange.transposed_bytes(attended),
                                           gathered.from, gathered.made_by, end);
    saved.attended = holder.until(LayerTensor::attended, activation_bytes(shard, attended),
                                  attention.through, attention.made_by, end);
    return out;
}

void recompute_projections(ForwardParts& parts, Arriving& rows, SavedAttention& alive) {
    const Shard& shard = parts.shard;
    if (shard.latent.width > 0) {
        alive.latent = project_latent(parts, rows);
        alive.latent.buffer =
            parts.buffers.hold(MemoryClass::buffers, latent_bytes(shard), alive.latent.through);
        alive.latent_gathered =
            held(parts, gather_latents(parts, alive.latent), gathered_latent_bytes(parts));
    }
    const Heads made = project_heads(parts, alive.latent_gathered, rows);
    alive.qkv = held(parts, made.own, activation_bytes(shard, shard.qkv_width()));
}

void complete_attended(ForwardParts& parts, SavedAttention& alive) {
    const double width = parts.shard.attended_width();
    if (!alive.attended_gathered.kept()) {
        alive.attended_gathered =
            held(parts, parts.exchange.gather_transposed("attended", width, alive.attended),
                 parts.exchange.transposed_bytes(width));
    }
}

void recompute_attention(ForwardParts& parts, LayerKind kind, SavedAttention& alive) {
    const Shard& shard = parts.shard;
    const Arriving kv = parts.exchange.gather_kv("keys and values", alive.qkv);
    alive.kv_gathered = held(parts, kv, gathered_kv_bytes(parts));
    const Tensor attended = attend(parts, kind, kv, alive.qkv);
    if (shard.score_bytes > 0) {
        alive.scores = held(parts, attended, score_bytes(shard, kind.local));
    }
    alive.attended = held(parts, attended, activation_bytes(shard, shard.attended_width()));
}

}  // namespace podsim::workloads
