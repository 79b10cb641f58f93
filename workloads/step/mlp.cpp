#include "workloads/step/mlp.h"

namespace podsim::workloads {

Mlp dense_mlp(const Shard& shard) {
    return {"", shard.d_ff, !shard.parallel_block, !shard.parallel_block};
}

GateUp mlp_gate_up(ForwardParts& parts, const Mlp& mlp, Arriving& rows) {
    const Shard& shard = parts.shard;
    parts.reads(mlp.gate_up);
    const std::string what = mlp.prefix + "gate_up";
    const Tensor made = parts.matmul(what, gate_up_forward(shard, mlp.width, mlp.normed), rows);
    return {parts.exchange.scatter_transposed(what, shard.branches * mlp.width, made),
            made.through};
}

PartialSums mlp_down(ForwardParts& parts, Holder& holder, const Mlp& mlp, const GateUp& gate_up,
                     const Sources& added, SavedMlp& saved) {
    const Shard& shard = parts.shard;
    parts.reads(mlp.down);
    const Tensor hidden =
        parts.exchange.gather_transposed(mlp.prefix + "hidden", mlp.width, gate_up.made);
    PartialSums out = parts.matmul_scattered(mlp.prefix + "down", down_forward(shard, mlp.width),
                                             full_row_bytes(shard), hidden.made_by + added);
    saved.gate_up =
        holder.until(LayerTensor::gate_up, activation_bytes(shard, shard.branches * mlp.width),
                     gate_up.made.from, gate_up.made.made_by, out.through);
    saved.hidden_gathered =
        holder.until(holder.keep().gathered, parts.exchange.transposed_bytes(mlp.width),
                     hidden.from, hidden.made_by, out.through);
    // The first matmul's epilogue applies the activation function.
    saved.hidden = holder.until(LayerTensor::hidden, activation_bytes(shard, mlp.width),
                                hidden.from, gate_up.made.made_by, out.through);
    return out;
}

void recompute_gate_up(ForwardParts& parts, const Mlp& mlp, Arriving& rows, SavedMlp& alive) {
    const double bytes = activation_bytes(parts.shard, parts.shard.branches * mlp.width);
    alive.gate_up = held(parts, mlp_gate_up(parts, mlp, rows).made, bytes);
}

void complete_hidden(ForwardParts& parts, const Mlp& mlp, SavedMlp& alive) {
    if (!alive.hidden_gathered.kept()) {
        alive.hidden_gathered = held(parts,
                                     parts.exchange.gather_transposed(
                                         mlp.prefix + "hidden", mlp.width, alive.hidden_source()),
                                     parts.exchange.transposed_bytes(mlp.width));
    }
}

PartialSums recompute_down(ForwardParts& parts, const Mlp& mlp, SavedMlp& alive) {
    parts.reads(mlp.down);
    complete_hidden(parts, mlp, alive);
    return parts.matmul_scattered(mlp.prefix + "down", down_forward(parts.shard, mlp.width),
                                  full_row_bytes(parts.shard), alive.hidden_gathered.made_by);
}

}  // namespace podsim::workloads
