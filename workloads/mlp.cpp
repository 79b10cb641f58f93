#include "workloads/mlp.h"

namespace podsim::workloads {

BlockOps mlp_pass(StepBuilder& builder, Holder& holder, const Mlp& mlp, MlpBuffers& held) {
    const Shard& shard = builder.shard();
    BlockOps ops;
    ops.reads =
        builder.compute(mlp.prefix + "gate_up", gate_up_forward(shard, mlp.width, mlp.normed));
    ops.out = builder.compute(mlp.prefix + "down", down_forward(shard, mlp.width));
    held.gate_up =
        holder.until(LayerTensor::gate_up, activation_bytes(shard, shard.branches * mlp.width),
                     ops.reads, ops.out);
    held.hidden =
        holder.until(LayerTensor::hidden, activation_bytes(shard, mlp.width), ops.out, ops.out);
    return ops;
}

void recompute_gate_up(StepBuilder& builder, const Mlp& mlp, MlpBuffers& alive) {
    const Shard& shard = builder.shard();
    const OpIndex first = builder.next();
    builder.compute(mlp.prefix + "gate_up", gate_up_forward(shard, mlp.width, mlp.normed));
    alive.gate_up = builder.hold(MemoryClass::buffers,
                                 activation_bytes(shard, shard.branches * mlp.width), first);
}

void MlpBackward::hidden_gradient() {
    const Shard& shard = builder_.shard();
    const OpIndex dh = builder_.compute(mlp_.prefix + "down input gradient",
                                        down_input_gradient(shard, mlp_.width));
    gradient_ = builder_.hold(MemoryClass::buffers,
                              activation_bytes(shard, shard.branches * mlp_.width), dh);
}

OpIndex MlpBackward::down_weights() {
    const OpIndex dw = builder_.compute(mlp_.prefix + "down weight gradient",
                                        down_weight_gradient(builder_.shard(), mlp_.width));
    builder_.release(alive_.hidden, dw);
    builder_.release(alive_.gate_up, dw);
    return dw;
}

OpIndex MlpBackward::input() {
    return builder_.compute(mlp_.prefix + "gate_up input gradient",
                            gate_up_input_gradient(builder_.shard(), mlp_.width, mlp_.normed));
}

OpIndex MlpBackward::weights() {
    const OpIndex end =
        builder_.compute(mlp_.prefix + "gate_up weight gradient",
                         gate_up_weight_gradient(builder_.shard(), mlp_.width, mlp_.normed));
    builder_.release(gradient_, end);
    return end;
}

}  // namespace podsim::workloads
