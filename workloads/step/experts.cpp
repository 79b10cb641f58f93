#include "workloads/step/experts.h"

#include <algorithm>

#include "workloads/work/experts_work.h"

namespace podsim::workloads {
namespace {

double logit_bytes(const Shard& shard) {
    return shard.rows * shard.experts.routed * shard.precision.compute;
}

}  // namespace

double token_bytes(const ForwardParts& parts) {
    const Shard& shard = parts.shard;
    return shard.experts.tokens / parts.ways.tensor * shard.d_model * shard.precision.compute;
}

double copy_bytes(const ForwardParts& parts) {
    const Shard& shard = parts.shard;
    return shard.experts.copies / parts.ways.tensor * shard.d_model * shard.precision.compute;
}

double token_sum_bytes(const ForwardParts& parts) {
    return token_bytes(parts) * parts.ways.tensor;
}

double gathered_token_bytes(const ForwardParts& parts) {
    return parts.ways.tensor > 1 ? token_sum_bytes(parts) : 0;
}

double exchanged_bytes(const ForwardParts& parts) {
    return std::max(token_bytes(parts), copy_bytes(parts));
}

double expert_bytes(const Shard& shard, double width) {
    return shard.experts.tokens * width * shard.precision.compute;
}

void hold_scratch(ForwardParts& parts, OpIndex routed, OpIndex combined) {
    if (parts.shard.experts.path.dense()) {
        parts.buffers.hold_between(MemoryClass::buffers, mask_bytes(parts.shard), routed, combined);
    }
    if (parts.shard.experts.path.sparse()) {
        for (const OpIndex op : {routed, combined}) {
            parts.buffers.hold_between(MemoryClass::buffers, copy_bytes(parts), op, op);
        }
    }
}

Mlp shared_mlp(const Shard& shard) {
    return {.prefix = "shared ",
            .width = shard.experts.shared_width,
            .normed = false,
            .gate_up = Matrix::shared_gate_up,
            .down = Matrix::shared_down};
}

namespace {

/// Tokens on their way to their experts, through them and back.
struct Routed {
    Tensor sent;
    Tensor tokens;
    Tensor gate_up;
    PartialSums down;
    Tensor reduced;
    Tensor returned;
};
Routed routed_pass(ForwardParts& parts, const Tensor& router) {
    const Shard& shard = parts.shard;
    Routed made;
    made.sent = parts.exchange.exchange_tokens("tokens", false, router);
    parts.reads(Matrix::gate_up);
    Arriving tokens = parts.exchange.gather_tokens("tokens", made.sent);
    made.gate_up =
        parts.matmul("experts gate_up", RowsWork(shard, experts_gate_up_forward), tokens);
    made.tokens = tokens;
    parts.reads(Matrix::down);
    made.down = parts.matmul_scattered("experts down", RowsWork(shard, experts_down_forward),
                                       token_sum_bytes(parts), made.gate_up.made_by);
    made.reduced = parts.exchange.scatter_tokens("expert output", made.down);
    made.returned = parts.exchange.exchange_tokens("expert output", true, made.reduced);
    return made;
}

void hold_routed(ForwardParts& parts, Holder& holder, const Routed& made, SavedExperts& saved) {
    const Shard& shard = parts.shard;
    const Keep& keep = holder.keep();
    const OpIndex gate_up = made.gate_up.through;
    const OpIndex down = made.down.through;
    saved.tokens = holder.until(keep.normed || keep.gathered, token_bytes(parts), made.sent.from,
                                made.sent.made_by, gate_up);
    saved.tokens_gathered = holder.until(keep.gathered, gathered_token_bytes(parts),
                                         made.tokens.from, made.tokens.made_by, gate_up);
    saved.routed.gate_up =
        holder.until(LayerTensor::gate_up, expert_bytes(shard, shard.branches * shard.experts.d_ff),
                     gate_up, made.gate_up.made_by, down);
    saved.routed.hidden = holder.until(LayerTensor::hidden, expert_bytes(shard, shard.experts.d_ff),
                                       down, made.gate_up.made_by, down);
}

/// Holds the output of the experts up to `combined`: on its way back, and kept at the rows (all
/// residuals) or at the experts (by name).
void hold_returned(ForwardParts& parts, Holder& holder, const Routed& made, OpIndex combined,
                   SavedExperts& saved) {
    const Keep& keep = holder.keep();
    const bool travels = parts.ways.expert > 1;
    const OpIndex given = made.reduced.through;
    const OpIndex back = made.returned.from;
    const auto transient = [&](double bytes, OpIndex from, OpIndex to) {
        parts.buffers.hold_between(MemoryClass::buffers, bytes, from, to);
    };
    if (keep.normed || keep.gathered) {
        saved.returned = holder.saved(true, copy_bytes(parts), back, made.returned.made_by);
        if (travels) {
            transient(token_bytes(parts), given, back);
        }
    } else if (keep.tensors.has(LayerTensor::output)) {
        saved.output = holder.until(LayerTensor::output, token_bytes(parts), given,
                                    made.reduced.made_by, travels ? back : combined);
        if (travels) {
            transient(copy_bytes(parts), back, combined);
        }
    } else {
        transient(exchanged_bytes(parts), given, combined);
    }
}

}  // namespace

Tensor expert_pass(ForwardParts& parts, Holder& holder, const Tensor& x, SavedExperts& saved) {
    const Shard& shard = parts.shard;
    const bool has_shared = shard.experts.shared_width > 0;
    parts.reads(Matrix::router);
    const Tensor router = parts.with_weights("router", router_forward(shard), x.made_by);
    saved.logits = holder.until(LayerTensor::gate_up, logit_bytes(shard), router.from,
                                router.made_by, router.from);
    Arriving rows{router};
    OpIndex last_read = router.from;
    Tensor scattered = router;
    if (has_shared) {
        const Mlp mlp = shared_mlp(shard);
        parts.reads(Matrix::shared_gate_up);
        rows = parts.exchange.gather_rows("mlp input", router);
        const GateUp gate_up = mlp_gate_up(parts, mlp, rows);
        last_read = gate_up.last_read;
        scattered = parts.exchange.scatter_rows(
            "shared output", mlp_down(parts, holder, mlp, gate_up, {}, saved.shared));
    }
    saved.rows = hold_rows(parts, holder, router, rows, last_read);

    const Routed routed = routed_pass(parts, router);
    Tensor output = parts.compute("combine", combine_forward(shard),
                                  made_by(routed.returned, scattered, router, x));
    hold_scratch(parts, router.from, output.from);
    hold_routed(parts, holder, routed, saved);
    hold_returned(parts, holder, routed, output.from, saved);
    if (has_shared) {
        parts.buffers.hold_between(MemoryClass::buffers, own_row_bytes(shard), scattered.through,
                                   output.from);
    }
    return output;
}

void recompute_experts(ForwardParts& parts, const Sources& x, SavedExperts& alive) {
    const Shard& shard = parts.shard;
    parts.reads(Matrix::router);
    const Tensor router = parts.with_weights("router", router_forward(shard), x);
    alive.logits = held(parts, router, logit_bytes(shard));
    if (shard.experts.shared_width > 0) {
        parts.reads(Matrix::shared_gate_up);
        Arriving rows = parts.exchange.gather_rows("mlp input", router);
        alive.rows.gathered = held(parts, rows, full_row_bytes(shard));
        recompute_gate_up(parts, shared_mlp(shard), rows, alive.shared);
        alive.rows.gathered.made_by = rows.made_by;
    }
    alive.tokens =
        held(parts, parts.exchange.exchange_tokens("tokens", false, router), token_bytes(parts));
    parts.reads(Matrix::gate_up);
    Arriving tokens = parts.exchange.gather_tokens("tokens", alive.tokens);
    alive.tokens_gathered = held(parts, tokens, gathered_token_bytes(parts));
    alive.routed.gate_up = held(
        parts, parts.matmul("experts gate_up", RowsWork(shard, experts_gate_up_forward), tokens),
        expert_bytes(shard, shard.branches * shard.experts.d_ff));
    alive.tokens_gathered.made_by = tokens.made_by;
}

void recompute_returned(ForwardParts& parts, SavedExperts& alive) {
    const bool travels = parts.ways.expert > 1;
    Tensor given = alive.output;
    if (!given.kept()) {
        parts.reads(Matrix::down);
        const PartialSums down =
            parts.matmul_scattered("experts down", RowsWork(parts.shard, experts_down_forward),
                                   token_sum_bytes(parts), alive.routed.hidden_source().made_by);
        given = parts.exchange.scatter_tokens("expert output", down);
        given.from = given.through;
        given = held(parts, given, token_bytes(parts));
    }
    alive.output = {};
    if (!travels) {
        alive.returned = given;
        return;
    }
    alive.returned = held(parts, parts.exchange.exchange_tokens("expert output", true, given),
                          copy_bytes(parts));
    parts.buffers.release(given.buffer, alive.returned.from);
}

Tensor recompute_combined(ForwardParts& parts, const Sources& x, SavedExperts& alive) {
    Tensor shared;
    if (parts.shard.experts.shared_width > 0) {
        const PartialSums sums = recompute_down(parts, shared_mlp(parts.shard), alive.shared);
        shared = parts.exchange.scatter_rows("shared output", sums);
        shared.from = shared.through;
        shared = held(parts, shared, own_row_bytes(parts.shard));
    }
    Tensor combined = parts.compute("combine", combine_forward(parts.shard),
                                    made_by(alive.returned, shared, alive.logits) + x);
    parts.buffers.release(shared.buffer, combined.from);
    return combined;
}

}  // namespace podsim::workloads
