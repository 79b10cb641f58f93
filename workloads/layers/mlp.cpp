#include "workloads/layers/mlp.h"

namespace podsim::workloads {

Parts mlp_gate_up(StepBuilder& builder, const Mlp& mlp) {
    const Shard& shard = builder.shard();
    builder.reads(mlp.gate_up);
    const OpIndex first = builder.next();
    const OpIndex last =
        builder.compute(mlp.prefix + "gate_up", gate_up_forward(shard, mlp.width, mlp.normed));
    return {builder.scatter_transposed(mlp.prefix + "gate_up", shard.branches * mlp.width, first),
            last};
}

BlockOps mlp_down(StepBuilder& builder, Holder& holder, const Mlp& mlp, const Parts& gate_up,
                  MlpBuffers& held) {
    const Shard& shard = builder.shard();
    BlockOps ops;
    ops.reads = gate_up.last;
    builder.reads(mlp.down);
    const OpIndex hidden = builder.gather_transposed(mlp.prefix + "hidden", mlp.width);
    ops.out = builder.compute_scattered(mlp.prefix + "down", down_forward(shard, mlp.width),
                                        builder.full_rows());
    held.gate_up =
        holder.until(LayerTensor::gate_up, activation_bytes(shard, shard.branches * mlp.width),
                     gate_up.first, ops.out);
    held.hidden_gathered =
        holder.until(holder.keep().gathered, builder.transposed_bytes(mlp.width), hidden, ops.out);
    held.hidden =
        holder.until(LayerTensor::hidden, activation_bytes(shard, mlp.width), hidden, ops.out);
    return ops;
}

void recompute_gate_up(StepBuilder& builder, const Mlp& mlp, MlpBuffers& alive) {
    const Shard& shard = builder.shard();
    alive.gate_up =
        builder.hold(MemoryClass::buffers, activation_bytes(shard, shard.branches * mlp.width),
                     mlp_gate_up(builder, mlp).first);
}

void MlpBackward::hidden_gradient() {
    const Shard& shard = builder_.shard();
    builder_.reads(mlp_.down);
    const OpIndex first = builder_.next();
    builder_.compute(mlp_.prefix + "down input gradient", down_input_gradient(shard, mlp_.width));
    const OpIndex dh =
        builder_.scatter_transposed(mlp_.prefix + "hidden gradient", mlp_.width, first);
    gradient_ = builder_.hold(MemoryClass::buffers,
                              activation_bytes(shard, shard.branches * mlp_.width), dh);
}

OpIndex MlpBackward::down_weights() {
    builder_.begin_gradient(mlp_.down);
    if (alive_.hidden_gathered == kNoBuffer) {
        alive_.hidden_gathered =
            builder_.hold(MemoryClass::buffers, builder_.transposed_bytes(mlp_.width),
                          builder_.gather_transposed(mlp_.prefix + "hidden", mlp_.width));
    }
    const OpIndex dw = builder_.compute(mlp_.prefix + "down weight gradient",
                                        down_weight_gradient(builder_.shard(), mlp_.width));
    builder_.end_gradient(mlp_.down);
    builder_.release(alive_.hidden_gathered, dw);
    builder_.release(alive_.hidden, dw);
    builder_.release(alive_.gate_up, dw);
    return dw;
}

OpIndex MlpBackward::input() {
    const std::string name = mlp_.prefix + "gate_up input gradient";
    const double width = builder_.shard().branches * mlp_.width;
    builder_.reads(mlp_.gate_up);
    gradient_gathered_ =
        builder_.hold(MemoryClass::buffers, builder_.transposed_bytes(width),
                      builder_.gather_transposed(mlp_.prefix + "gate_up gradient", width));
    Compute work = gate_up_input_gradient(builder_.shard(), mlp_.width, mlp_.normed);
    return mlp_.scattered ? builder_.compute_scattered(name, std::move(work), builder_.full_rows())
                          : builder_.compute(name, std::move(work));
}

OpIndex MlpBackward::weights() {
    builder_.begin_gradient(mlp_.gate_up);
    builder_.await_rows();
    const OpIndex end =
        builder_.compute(mlp_.prefix + "gate_up weight gradient",
                         gate_up_weight_gradient(builder_.shard(), mlp_.width, mlp_.normed));
    builder_.end_gradient(mlp_.gate_up);
    builder_.release(gradient_, end);
    builder_.release(gradient_gathered_, end);
    return end;
}

}  // namespace podsim::workloads
