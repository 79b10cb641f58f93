// Activations between chips: rows, columns, tokens, keys and values, gathered and scattered over tensor, tensor_transpose,
// expert and context. Collectives block, or overlap with the matmul beside them (matmul_overlap.h).
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
//
// Whatever is gathered or scattered over an axis without members is handed on as it came: gathered, it is there from the
// next operation on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/builder/matmul_overlap.h"
#include "workloads/plan/expert_load.h"
#include "workloads/plan/ways.h"

namespace podsim::workloads {

/// Bytes of a chip's t x D activations, and of the r x D that are its own between blocks.
inline double full_row_bytes(const Shard& shard) {
    return shard.tokens * shard.block_rows() * shard.precision.compute;
}
inline double own_row_bytes(const Shard& shard) {
    return shard.rows * shard.d_model * shard.precision.compute;
}

class RowExchange {
public:
    RowExchange(const Ways& ways, const ExpertLoad& experts, const Shard& shard,
                const MatmulOverlap& overlap, const OpNames& names, Chain& chain,
                HeldBuffers& buffers);

    /// An AllGather over tensor of t x D activations: blocking, or with the matmul that takes it.
    Arriving gather_rows(std::string_view what, const Tensor& own);
    /// Where no matmul takes them: the gather blocks.
    Tensor complete(const Arriving& rows);
    /// Of rows that only a later weight gradient needs: where tensor collectives overlap the gather runs beside what
    /// stands before it, to the operation that reads them.
    Tensor gather_rows_ahead(std::string_view what, const Tensor& own);
    /// A blocking ReduceScatter over tensor of t x D partial sums, held until it ends; nothing where the matmul's own
    /// steps have added them up.
    Tensor scatter_rows(std::string_view what, const PartialSums& sums);

    /// AllGather and ReduceScatter of t x width activations whose columns are split over both axes of tensor.
    Tensor gather_columns(std::string_view what, double width, const Tensor& own);
    Tensor scatter_columns(std::string_view what, double width, const Tensor& sums);
    /// Over tensor_transpose, blocking: the complete columns of a tensor way of which this chip has `width`, and back:
    /// its share of their partial sums.
    Tensor gather_transposed(std::string_view what, double width, const Tensor& own);
    Tensor scatter_transposed(std::string_view what, double width, const Tensor& sums);
    /// Bytes of those complete columns; none without such ways.
    [[nodiscard]] double transposed_bytes(double width) const;
    /// A blocking AllReduce over tensor_transpose of the sums of `norms` norms over rows whose columns are split. Returns
    /// the rows with their sums.
    Tensor reduce_norm(std::string_view what, double norms, const Tensor& rows);
    /// A blocking AllReduce over both axes of tensor.
    Tensor all_reduce(std::string_view what, double bytes, const Tensor& own);

    /// A blocking AllToAll over expert of the tokens (or their gradients) that experts take. `back`: from the experts to
    /// where the tokens came from.
    Tensor exchange_tokens(std::string_view what, bool back, const Tensor& own);
    /// As gather_rows and scatter_rows, of the tokens that this chip's experts take.
    Arriving gather_tokens(std::string_view what, const Tensor& own);
    Tensor gather_tokens_ahead(std::string_view what, const Tensor& own);
    Tensor scatter_tokens(std::string_view what, const PartialSums& sums);

    /// AllGather / ReduceScatter over context of keys and values (or their gradients) of the whole sequence, with those
    /// over tensor where heads are split by columns. In ring attention the gather is left to the attention that takes it,
    /// and its steps have added up the gradients.
    Arriving gather_kv(std::string_view what, const Tensor& own);
    Tensor scatter_kv(std::string_view what, const Tensor& sums);

private:
    using Axes = std::vector<std::string>;
    [[nodiscard]] double token_bytes() const;
    /// As it came, from the next operation on.
    [[nodiscard]] Tensor unchanged(const Tensor& own) const;
    Arriving gather_over_tensor(std::string_view what, double bytes, const Tensor& own);
    Tensor gather_ahead(std::string_view what, double bytes, const Tensor& own);
    Tensor scatter_over_tensor(std::string_view what, double bytes, const PartialSums& sums);
    Tensor block_on_gather(std::string_view what, double bytes, const Axes& axes,
                           const Tensor& own);
    Tensor block_on_scatter(std::string_view what, double bytes, const Axes& axes,
                            const Tensor& sums);

    const Ways ways_;
    const ExpertLoad& experts_;
    const Shard& shard_;
    const MatmulOverlap& overlap_;
    const OpNames& names_;
    Chain& chain_;
    HeldBuffers& buffers_;
    Axes tensor_axes_;  ///< tensor and tensor_transpose that have members
};

}  // namespace podsim::workloads
