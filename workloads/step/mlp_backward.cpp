#include "workloads/step/mlp_backward.h"

namespace podsim::workloads {

void MlpBackward::hidden_gradient(Arriving& dy) {
    const Shard& shard = parts_.shard;
    // The matmul's epilogue is the activation function's backward.
    const Tensor dh =
        parts_.matmul(mlp_.prefix + "down input gradient", down_input_gradient(shard, mlp_.width),
                      dy, alive_.gate_up.made_by);
    output_gradient_ = dy.made_by;
    gradient_ = held(
        parts_, parts_.exchange.scatter_transposed(mlp_.prefix + "hidden gradient", mlp_.width, dh),
        activation_bytes(shard, shard.branches * mlp_.width));
}

OpIndex MlpBackward::down_weights() {
    parts_.gradients.begin_matrix(mlp_.down);
    complete_hidden(parts_, mlp_, alive_);
    const Tensor dw =
        parts_.gradients.write_matrix(mlp_.down, mlp_.prefix + "down weight gradient",
                                      down_weight_gradient(parts_.shard, mlp_.width),
                                      output_gradient_ + alive_.hidden_gathered.made_by);
    for (const Tensor* tensor : {&alive_.hidden_gathered, &alive_.hidden, &alive_.gate_up}) {
        parts_.buffers.release(tensor->buffer, dw.through);
    }
    return dw.through;
}

PartialSums MlpBackward::input(const Sources& norm_input) {
    const std::string name = mlp_.prefix + "gate_up input gradient";
    const double width = parts_.shard.branches * mlp_.width;
    parts_.reads(mlp_.gate_up);
    gradient_gathered_ =
        held(parts_,
             parts_.exchange.gather_transposed(mlp_.prefix + "gate_up gradient", width, gradient_),
             parts_.exchange.transposed_bytes(width));
    const Compute work = gate_up_input_gradient(parts_.shard, mlp_.width, mlp_.normed);
    const Sources needs = gradient_gathered_.made_by + (mlp_.normed ? norm_input : Sources{});
    if (mlp_.scattered) {
        return parts_.matmul_scattered(name, work, full_row_bytes(parts_.shard), needs);
    }
    return {parts_.with_weights(name, work, needs)};
}

OpIndex MlpBackward::weights(const Tensor& rows) {
    const Tensor dw = parts_.gradients.write_matrix(
        mlp_.gate_up, mlp_.prefix + "gate_up weight gradient",
        gate_up_weight_gradient(parts_.shard, mlp_.width, mlp_.normed),
        made_by(gradient_gathered_, rows));
    parts_.buffers.release(gradient_.buffer, dw.through);
    parts_.buffers.release(gradient_gathered_.buffer, dw.through);
    return dw.through;
}

}  // namespace podsim::workloads
