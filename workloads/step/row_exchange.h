// Activations between chips: rows, columns, tokens, keys and values, gathered and scattered over
// tensor, tensor_transpose, expert and context. Collectives block, or overlap with the matmul
// beside them (matmul_overlap.h).
//
// 2-D weight-stationary tensor sharding: weights stay on their chips, split over both of their
// dimensions, and activations travel (Pope et al., Efficiently Scaling Transformer Inference, 2022,
// section 3.2.2; the axis's name is MaxText's).
//
// With Y ways of tensor and X of tensor_transpose a chip has D / X by F / Y of W_in and F / Y by
// D / X of W_out. Between blocks it has t / Y rows of D / X columns. With g = 2 for a gated MLP,
// else 1, the arrays V of each collective are (elements)
//   AllGather over tensor            t D / X      x[t, D_X]
//   ReduceScatter over transpose     g t F / Y    x W_in, partial sums over X
//   AllGather over transpose         t F / Y      the hidden product
//   ReduceScatter over tensor        t D / X      hidden W_out, partial sums over Y
// and backward
//   AllGather over tensor            t D / X      dy[t, D_X]
//   ReduceScatter over transpose     t F / Y      dy W_out^T
//   AllGather over transpose         g t F / Y    its gradient before the activation function
//   ReduceScatter over tensor        t D / X      that times W_in^T
// with t D / X and t F / Y once more if x and the hidden product are not kept complete for the
// weight gradients. A plain MLP in bf16 has forward 4 t D / X + 4 t F / Y bytes, backward the same,
// and 2 t D / X + 2 t F / Y. Attention is alike: queries, keys and values replace g F, and its
// output replaces F; its heads are split over all X Y ways. Logits likewise, with V instead of F.
// Norms need a row's sums over all of its columns: an AllReduce over transpose of t / Y 4-byte
// values for each (two for a LayerNorm), forward and backward.
//
// A gather or scatter over an axis without members passes its input on: a gathered tensor exists
// from the next operation on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/plan/plan.h"
#include "workloads/plan/ways.h"
#include "workloads/step/matmul_overlap.h"

namespace podsim::workloads {

/// Return the bytes of a chip's t x D activations, and of its own r x D between blocks.
inline double full_row_bytes(const Shard& shard) {
    return shard.tokens * shard.block_rows() * shard.precision.compute;
}
inline double own_row_bytes(const Shard& shard) {
    return shard.rows * shard.d_model * shard.precision.compute;
}

/// Writer of the collectives that move a chip's activations.
class RowExchange {
public:
    RowExchange(const Ways& ways, const ExpertLoad& experts, const Shard& shard,
                const MatmulOverlap& overlap, const OpNames& names, Chain& chain,
                HeldBuffers& buffers);

    /// Adds an AllGather over tensor of t x D activations: blocking, or with the
    /// matmul that takes it.
    Arriving gather_rows(std::string_view what, const Tensor& own);
    /// Completes rows that no matmul takes: the gather blocks.
    Tensor complete(const Arriving& rows);
    /// Gathers rows that only a later weight gradient needs. If tensor collectives overlap, the
    /// gather runs beside the operations before the one that reads them.
    Tensor gather_rows_ahead(std::string_view what, const Tensor& own);
    /// Adds a blocking ReduceScatter over tensor of t x D partial sums, which are held until it
    /// ends; nothing if the matmul's own steps have added them up.
    Tensor scatter_rows(std::string_view what, const PartialSums& sums);

    /// Add an AllGather or ReduceScatter of t x width activations whose columns are split over
    /// both axes of tensor.
    Tensor gather_columns(std::string_view what, double width, const Tensor& own);
    Tensor scatter_columns(std::string_view what, double width, const Tensor& sums);
    /// Over tensor_transpose, blocking: gathers the complete columns of a tensor rank, of which
    /// this chip has `width`, or scatters back its fraction of their partial sums.
    Tensor gather_transposed(std::string_view what, double width, const Tensor& own);
    Tensor scatter_transposed(std::string_view what, double width, const Tensor& sums);
    /// Returns the bytes of those complete columns; none without tensor_transpose.
    [[nodiscard]] double transposed_bytes(double width) const;
    /// Adds a blocking AllReduce over tensor_transpose of the sums of `norms` norms over rows whose
    /// columns are split. Returns the rows with their sums.
    Tensor reduce_norm(std::string_view what, double norms, const Tensor& rows);
    /// Adds a blocking AllReduce over both axes of tensor.
    Tensor all_reduce(std::string_view what, double bytes, const Tensor& own);

    /// Adds a blocking AllToAll over expert of the tokens (or their gradients) that experts take.
    /// `back`: from the experts to the chips that the tokens came from.
    Tensor exchange_tokens(std::string_view what, bool back, const Tensor& own);
    /// Like gather_rows and scatter_rows, for the tokens that this chip's experts take.
    Arriving gather_tokens(std::string_view what, const Tensor& own);
    Tensor gather_tokens_ahead(std::string_view what, const Tensor& own);
    Tensor scatter_tokens(std::string_view what, const PartialSums& sums);

    /// Add an AllGather or ReduceScatter over context of keys and values (or their gradients)
    /// of the whole sequence, with those over tensor if heads are split by columns. In ring
    /// attention the gather is left to the attention that takes it, whose steps have also
    /// added up the gradients.
    Arriving gather_kv(std::string_view what, const Tensor& own);
    Tensor scatter_kv(std::string_view what, const Tensor& sums);

private:
    using Axes = std::vector<std::string>;
    [[nodiscard]] double token_bytes() const;
    /// Returns the tensor as it is, from the next operation on.
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
    Axes tensor_axes_;  ///< tensor and tensor_transpose, if they have members
};

}  // namespace podsim::workloads
