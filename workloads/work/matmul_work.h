// Matmuls as operations: FLOPs, shapes, HBM bytes and vector work. work.cpp and attention_work.cpp
// are written in these terms.
//
// Quantised matmuls (int8, fp8; see Precision::matmul) quantise both operands as they read them,
// unless the gather brings the weights quantised, and scale the result back. With dynamic scales
// each such operand is read once more before, for its largest magnitudes. XLA fuses the
// quantisation with the matmul, but not with the reduction that it waits for.
#pragma once

#include "workloads/program/step_program.h"
#include "workloads/work/shard.h"

namespace podsim::workloads {

// Elementwise work that is fused into the operations of work.h: its HBM bytes and its operations on
// the vector unit (vector_work.h). Symbols are those of work.h.

struct Elementwise {
    double bytes = 0;
    double operations = 0;
    double gathered = 0;  ///< bytes of rows that indices name
    double apart = 0;     ///< bytes of separate kernels

    friend Elementwise operator+(Elementwise a, Elementwise b) {
        return {a.bytes + b.bytes, a.operations + b.operations, a.gathered + b.gathered,
                a.apart + b.apart};
    }
};

/// Returns the work of a block's norms and of the residual sum before them, and of their backward.
Elementwise norm_and_residual(const Shard& shard);
Elementwise norm_and_residual_gradient(const Shard& shard);
/// Returns the work of the final norm, the only one between the last layer and the logits.
Elementwise final_norm(const Shard& shard);
Elementwise final_norm_gradient(const Shard& shard);
/// Returns the work of repeating a block's norm if remat does not keep the normed input.
Elementwise normed_again(const Shard& shard, bool again);

/// Return the work on tokens x width activations, both gate and up if the MLP is gated.
Elementwise activation_function(const Shard& shard, double tokens, double width);
Elementwise activation_gradient(const Shard& shard, double tokens, double width);
Elementwise activation_again(const Shard& shard, double tokens, double width);

/// Return the work of the rotary embedding and the norms of queries and keys, for which XLA makes
/// separate kernels (work.h). The norms of latent vectors are those of the latents.
Elementwise query_key(const Shard& shard);
Elementwise query_key_gradient(const Shard& shard);
Elementwise latent_norm(const Shard& shard);
Elementwise latent_norm_gradient(const Shard& shard);

/// Returns the work of reading rows once and writing their copies for experts, or of reading the
/// copies and writing their sums. `operations` count for each copied element.
Elementwise copied_rows(const Shard& shard, double operations);

/// Precision of a matmul: bf16, or that of the plan.
enum class Runs { in_bf16, in_plan };
/// Returns the precision of a dense matrix's backward matmuls.
Runs backward_of(const Shard& shard, Matrix matrix);

/// Returns Y = X W for tokens x k rows. The weights are k x n.
Compute activations(const Shard& shard, double k, double n, Elementwise fused = {},
                    Runs runs = Runs::in_plan);
/// Returns the same for m rows.
Compute activations(const Shard& shard, double m, double k, double n, Elementwise fused, Runs runs);
/// Returns dW = X^T dY: k x n, summed over the tokens, or over m rows.
Compute weight_gradient(const Shard& shard, double k, double n, Elementwise fused = {},
                        Runs runs = Runs::in_plan);
Compute weight_gradient(const Shard& shard, double m, double k, double n, Elementwise fused,
                        Runs runs);
/// Products of a grouped matmul k x n, in which every expert of this chip has its fraction of the
/// tokens. Without tokens the products do nothing and read no weights; weight gradients are then
/// written as zeros. `one` is one product. `side_by_side` products (gate and up) read the rows for
/// each and have separate results. `added` products (their gradient) have separate rows, and the
/// results are added up. All products count as one over all columns, except with
/// ExpertMatmul::sparse. Its kernel runs them one by one, tile by tile (grouped_tiles.h), and adds
/// up in a separate pass.
enum class Branches { one, side_by_side, added };
Compute grouped(const Shard& shard, double k, double n, Branches branches, const ExpertTile& tile,
                Elementwise fused = {});
Compute grouped_weight_gradient(const Shard& shard, double k, double n, Branches branches,
                                const ExpertTile& tile, Elementwise fused = {});

/// Returns the work of two matmuls in one operation.
Compute both(Compute a, const Compute& b);
/// Returns an operation without a matmul.
Compute only(Elementwise work);

}  // namespace podsim::workloads
