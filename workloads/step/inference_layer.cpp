#include "workloads/step/inference_layer.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "workloads/plan/axes.h"
#include "workloads/plan/plan.h"
#include "workloads/step/cache_work.h"
#include "workloads/work/attention_work.h"
#include "workloads/work/experts_work.h"
#include "workloads/work/matmul_work.h"

namespace podsim::workloads {
namespace {

using collectives::Operation;

constexpr double kStatistic = 4;  // bytes of a running maximum or sum

Tensor at(OpIndex op) {
    return {op, op, {op}};
}

double bytes_of(const Shard& shard, double tokens, double columns) {
    return tokens * columns * shard.precision.compute;
}

Tensor exchange(ForwardParts& parts, const std::string& what, Operation operation,
                std::vector<std::string> axes, double bytes, const Tensor& own) {
    return at(parts.chain.blocking(
        what, {operation, Purpose::tensor, std::move(axes), sim::Bytes(bytes)}, own.made_by));
}

void hold(ForwardParts& parts, double bytes, const Tensor& from, const Tensor& to) {
    parts.buffers.hold_between(MemoryClass::buffers, bytes, from.from, to.through);
}

/// Sends queries to the members that hold their keys; from_cache brings back the outputs.
Tensor to_cache(ForwardParts& parts, const Tensor& qkv) {
    const Shard& shard = parts.shard;
    if (shard.cache.ways == 1) {
        return qkv;
    }
    const double bytes = bytes_of(shard, shard.tokens, query_columns(shard) * shard.cache.ways);
    return shard.cache.split == CacheSplit::batch
               ? exchange(parts, "exchange queries", Operation::all_to_all, {axis::cache}, bytes,
                          qkv)
               : exchange(parts, "gather queries", Operation::all_gather, {axis::cache}, bytes,
                          qkv);
}

Tensor from_cache(ForwardParts& parts, const Tensor& attended) {
    const Shard& shard = parts.shard;
    if (shard.cache.ways == 1) {
        return attended;
    }
    const double heads = shard.heads * shard.cache.ways;
    const double bytes = bytes_of(shard, shard.tokens, output_columns(shard) * shard.cache.ways);
    if (shard.cache.split == CacheSplit::batch) {
        return exchange(parts, "exchange outputs", Operation::all_to_all, {axis::cache}, bytes,
                        attended);
    }
    const double statistics = shard.tokens * heads * kStatistic;
    const Tensor maxima = exchange(parts, "reduce maxima", Operation::all_reduce, {axis::cache},
                                   statistics, attended);
    return exchange(parts, "scatter outputs", Operation::reduce_scatter, {axis::cache},
                    bytes + statistics, maxima);
}

/// Returns the attention of a prompt that is split over context. It gathers keys and values, and
/// writes a chip's own to the cache.
Tensor split_attention(ForwardParts& parts, LayerKind kind, const Tensor& qkv) {
    const Shard& shard = parts.shard;
    const Arriving keys = parts.exchange.gather_kv("keys and values", qkv);
    Compute work = attention_forward(shard, parts.seen(kind));
    work.hbm += sim::Bytes(shard.kv_elements() / shard.context * shard.cache.element);
    Tensor made = parts.compute("attention", std::move(work), keys.made_by);
    hold(parts, shard.kv_elements() * shard.precision.compute, keys, made);
    return made;
}

Tensor attend(ForwardParts& parts, LayerKind kind, const Tensor& qkv) {
    const Shard& shard = parts.shard;
    if (shard.context > 1) {
        return split_attention(parts, kind, qkv);
    }
    const Tensor queries = to_cache(parts, qkv);
    Tensor made = queries;
    std::size_t number = 0;
    bool started = false;  // the kernel, by a run of which this chip has sequences
    const auto attending = std::ranges::count(shard.runs, false, &Shard::Run::padding);
    for (const Shard::Run& run : shard.runs) {
        if (run.padding) {
            continue;
        }
        const std::string what =
            attending == 1 ? "attention" : fmt::format("attention of run {}", number++);
        if (auto keys = completed_keys(shard, run, kind.local)) {
            made = parts.with_weights("keys of " + what, *std::move(keys), made.made_by);
        }
        Compute work = cached_attention(shard, run, kind.local);
        work.continues = started && !shard.cache.dense;
        started = started || run.attended > 0;
        made = parts.compute(what, std::move(work), made.made_by);
    }
    made.from = queries.from;
    return from_cache(parts, made);
}

/// Returns the partial sums of attention's output, from normed rows.
Tensor attention_block(ForwardParts& parts, LayerKind kind, const Tensor& rows) {
    const Shard& shard = parts.shard;
    Tensor read = rows;
    if (shard.latent.width > 0) {
        parts.reads(Matrix::latent);
        const Tensor latent = parts.with_weights("latent", latent_forward(shard), rows.made_by);
        parts.reads(Matrix::qkv);
        read = parts.exchange.gather_columns("latents", shard.latent.width, latent);
    } else {
        parts.reads(Matrix::qkv);
    }
    const Tensor made = parts.with_weights("qkv", qkv_forward(shard), read.made_by);
    const Tensor qkv = parts.exchange.scatter_transposed("qkv", shard.projected_width(), made);
    const Tensor attended = attend(parts, kind, qkv);
    hold(parts, bytes_of(shard, shard.tokens, shard.qkv_width()), made, attended);
    parts.reads(Matrix::out);
    const Tensor complete =
        parts.exchange.gather_transposed("attended", shard.attended_width(), attended);
    Tensor out = parts.with_weights("out", out_forward(shard), complete.made_by);
    hold(parts, bytes_of(shard, shard.tokens, shard.attended_width()), attended, out);
    return out;
}

struct Width {
    std::string prefix;
    double columns = 0;
    bool normed = true;
    Matrix gate_up = Matrix::gate_up;
    Matrix down = Matrix::down;
};

/// Returns the partial sums of the output of a dense MLP, or of the shared experts. Those in
/// `others` are added to them.
Tensor mlp_sums(ForwardParts& parts, const Width& width, const Sources& rows,
                const Sources& others = {}) {
    const Shard& shard = parts.shard;
    parts.reads(width.gate_up);
    const Tensor made = parts.with_weights(
        width.prefix + "gate_up", gate_up_forward(shard, width.columns, width.normed), rows);
    const Tensor gate_up = parts.exchange.scatter_transposed(width.prefix + "gate_up",
                                                             shard.branches * width.columns, made);
    parts.reads(width.down);
    const Tensor hidden =
        parts.exchange.gather_transposed(width.prefix + "hidden", width.columns, gate_up);
    Tensor down = parts.with_weights(width.prefix + "down", down_forward(shard, width.columns),
                                     hidden.made_by + others);
    hold(parts, bytes_of(shard, shard.tokens, shard.branches * width.columns), made, down);
    return down;
}

/// Sends tokens to their experts by AllToAll, and back. Each tensor rank carries
/// its fraction of them.
Tensor travelling_experts(ForwardParts& parts, const Tensor& router) {
    const Shard& shard = parts.shard;
    const Tensor sent = parts.exchange.exchange_tokens("tokens", false, router);
    parts.reads(Matrix::gate_up);
    const Tensor tokens = parts.exchange.complete(parts.exchange.gather_tokens("tokens", sent));
    const Tensor gate_up =
        parts.with_weights("experts gate_up", experts_gate_up_forward(shard), tokens.made_by);
    parts.reads(Matrix::down);
    const Tensor down =
        parts.with_weights("experts down", experts_down_forward(shard), gate_up.made_by);
    const Tensor sums = parts.exchange.scatter_tokens("expert output", {down});
    return parts.exchange.exchange_tokens("expert output", true, sums);
}

Tensor local_experts(ForwardParts& parts, const Tensor& router) {
    parts.reads(Matrix::gate_up);
    const Tensor gate_up =
        parts.with_weights("experts gate_up", experts_gate_up_forward(parts.shard), router.made_by);
    parts.reads(Matrix::down);
    return parts.with_weights("experts down", experts_down_forward(parts.shard), gate_up.made_by);
}

Tensor expert_block(ForwardParts& parts, const Tensor& x) {
    const Shard& shard = parts.shard;
    parts.reads(Matrix::router);
    const Tensor router = parts.with_weights("router", router_forward(shard), x.made_by);
    Tensor shared = router;
    if (shard.experts.shared_width > 0) {
        shared = mlp_sums(parts,
                          {"shared ", shard.experts.shared_width, false, Matrix::shared_gate_up,
                           Matrix::shared_down},
                          router.made_by);
    }
    const bool travel = parts.ways.expert > 1;
    if (travel) {
        shared = add_up(parts, "shared output", shard.tokens, shared);
    }
    const Tensor routed = travel ? travelling_experts(parts, router) : local_experts(parts, router);
    const Tensor combined =
        parts.compute("combine", combine_forward(shard), made_by(routed, shared, router, x));
    hold(parts, bytes_of(shard, shard.experts.copies, 2 * shard.d_model), router, combined);
    if (!travel) {
        return add_up(parts, "mlp output", shard.tokens, combined);
    }
    const double bytes = bytes_of(shard, shard.tokens, shard.d_model);
    return parts.ways.tensor == 1 ? combined
                                  : exchange(parts, "gather mlp output", Operation::all_gather,
                                             {axis::tensor}, bytes, combined);
}

}  // namespace

Tensor add_up(ForwardParts& parts, const std::string& what, double tokens, const Tensor& sums) {
    std::vector<std::string> axes;
    for (const char* name : {axis::tensor, axis::cache}) {
        if (parts.ways.*find_axis(name)->ways > 1) {
            axes.emplace_back(name);
        }
    }
    if (axes.empty()) {
        return sums;
    }
    const double bytes = bytes_of(parts.shard, tokens, parts.shard.block_rows());
    return exchange(parts, "reduce " + what, Operation::all_reduce, std::move(axes), bytes, sums);
}

Tensor inference_layer(ForwardParts& parts, LayerKind kind, const Tensor& x) {
    parts.enter(kind);
    const Shard& shard = parts.shard;
    const double norms = shard.norms_of_block;
    if (shard.parallel_block) {
        const Tensor normed = parts.exchange.reduce_norm("layer norm", norms, x);
        const Tensor attention = attention_block(parts, kind, normed);
        return add_up(parts, "layer output", shard.tokens,
                      mlp_sums(parts, {.prefix = "", .columns = shard.d_ff, .normed = false},
                               normed.made_by, attention.made_by));
    }
    const Tensor normed = parts.exchange.reduce_norm("attention norm", norms, x);
    const Tensor middle =
        add_up(parts, "attention output", shard.tokens, attention_block(parts, kind, normed));
    if (kind.experts) {
        return expert_block(parts, middle);
    }
    const Tensor rows = parts.exchange.reduce_norm("mlp norm", norms, middle);
    return add_up(parts, "mlp output", shard.tokens,
                  mlp_sums(parts, {.prefix = "", .columns = shard.d_ff}, rows.made_by));
}

}  // namespace podsim::workloads
