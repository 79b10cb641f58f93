// Blocking collectives over the axes of tensor parallelism.
//
// 2-D weight-stationary tensor sharding: weights stay where they are, split over both of their dimensions, and
// activations travel (Pope et al., Efficiently Scaling Transformer Inference, 2022, section 3.2.2; the axis's name is MaxText's).
//
// Y ways of tensor, X of tensor_transpose. A chip has D / X by F / Y of W_in, F / Y by D / X of W_out; between blocks t / Y rows of
// D / X columns. With g = 2 of a gated MLP, else 1, the arrays V of each collective are (elements)
//   AllGather over tensor            t D / X      x[t, D_X]
//   ReduceScatter over transpose     g t F / Y    x W_in, partial sums over X
//   AllGather over transpose         t F / Y      the hidden product
//   ReduceScatter over tensor        t D / X      hidden W_out, partial sums over Y
// and backward
//   AllGather over tensor            t D / X      dy[t, D_X]
//   ReduceScatter over transpose     t F / Y      dy W_out^T
//   AllGather over transpose         g t F / Y    its gradient before the activation function
//   ReduceScatter over tensor        t D / X      that times W_in^T
// with t D / X and t F / Y once more where x and the hidden product are not kept complete for the weight gradients. Of a plain
// MLP in bf16: forward 4 t D / X + 4 t F / Y bytes, backward the same, and 2 t D / X + 2 t F / Y. Attention alike: queries, keys and
// values in place of g F, its output in place of F; its heads are split over all X Y ways. Logits likewise, V in
// place of F.
// Norms need a row's sums over all of its columns: an AllReduce over transpose of t / Y 4-byte values for each (two
// of a LayerNorm), forward and backward.
#include <fmt/format.h>

#include "workloads/builder/step_builder.h"

namespace podsim::workloads {

using collectives::Operation;

OpIndex StepBuilder::block_on_gather(std::string_view what, double bytes, const Axes& axes) {
    return blocking(fmt::format("gather {}", what),
                    {Operation::all_gather, Purpose::tensor, axes, sim::Bytes(bytes)});
}

OpIndex StepBuilder::block_on_scatter(std::string_view what, double bytes, OpIndex producer,
                                      const Axes& axes) {
    const OpIndex scattered =
        blocking(fmt::format("scatter {}", what),
                 {Operation::reduce_scatter, Purpose::tensor, axes, sim::Bytes(bytes)});
    hold_between(MemoryClass::buffers, bytes, producer, scattered);
    return scattered;
}

OpIndex StepBuilder::gather_columns(std::string_view what, double width) {
    const double bytes = shard_.tokens * width * shard_.precision.compute;
    return tensor_axes_.empty() ? next() : block_on_gather(what, bytes, tensor_axes_);
}

OpIndex StepBuilder::scatter_columns(std::string_view what, double width, OpIndex producer) {
    const double bytes = shard_.tokens * width * shard_.precision.compute;
    return tensor_axes_.empty() ? producer : block_on_scatter(what, bytes, producer, tensor_axes_);
}

void StepBuilder::all_reduce_tensor(std::string_view what, double bytes) {
    if (!tensor_axes_.empty()) {
        blocking(fmt::format("reduce {}", what),
                 {Operation::all_reduce, Purpose::tensor, tensor_axes_, sim::Bytes(bytes)});
    }
}

double StepBuilder::transposed_bytes(double width) const {
    return plan_.ways.tensor_transpose == 1
               ? 0
               : shard_.tokens * shard_.block_columns(width) * shard_.precision.compute;
}

OpIndex StepBuilder::gather_transposed(std::string_view what, double width) {
    return plan_.ways.tensor_transpose == 1
               ? next()
               : block_on_gather(what, transposed_bytes(width), {"tensor_transpose"});
}

OpIndex StepBuilder::scatter_transposed(std::string_view what, double width, OpIndex from) {
    return plan_.ways.tensor_transpose == 1
               ? from
               : block_on_scatter(what, transposed_bytes(width), from, {"tensor_transpose"});
}

void StepBuilder::reduce_norm(std::string_view what, double norms) {
    if (plan_.ways.tensor_transpose == 1) {
        return;
    }
    constexpr double kSum = 4;  // bytes
    const double sums = norms * (shard_.layer_norm ? 2 : 1);
    blocking(fmt::format("reduce {}", what),
             {Operation::all_reduce,
              Purpose::tensor,
              {"tensor_transpose"},
              sim::Bytes(shard_.tokens / plan_.ways.tensor * sums * kSum)});
}

}  // namespace podsim::workloads
