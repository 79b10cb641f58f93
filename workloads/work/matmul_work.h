// Matmuls as operations: FLOPs, shapes, HBM bytes and vector work. What work.cpp and attention_work.cpp are written in.
//
// Quantised matmuls (int8, fp8; Precision::matmul says which) quantise both operands as they read them, unless weights arrive
// quantised by their gather, and scale the result back. With dynamic scales each such operand is read once more before, for its
// largest magnitudes (XLA fuses what quantises with the matmul, but not with the reduction that it waits for).
#pragma once

#include "workloads/program/step_program.h"
#include "workloads/shards/shard.h"
#include "workloads/work/elementwise.h"

namespace podsim::workloads {

/// Which precision a matmul runs in.
enum class Runs { in_bf16, in_plan };
/// Which of the two a dense matrix's backward matmuls run in.
Runs backward_of(const Shard& shard, Matrix matrix);

/// Y = X W of tokens x k rows: the operand of weights is k x n.
Compute activations(const Shard& shard, double k, double n, Elementwise fused = {},
                    Runs runs = Runs::in_plan);
/// The same of m rows.
Compute activations(const Shard& shard, double m, double k, double n, Elementwise fused, Runs runs);
/// dW = X^T dY: k x n, summed over the tokens, or over m rows.
Compute weight_gradient(const Shard& shard, double k, double n, Elementwise fused = {},
                        Runs runs = Runs::in_plan);
Compute weight_gradient(const Shard& shard, double m, double k, double n, Elementwise fused,
                        Runs runs);
/// Matmuls k x n of every expert of this chip with its share of the tokens. Without tokens they do nothing, and
/// read no weights; weight gradients are then written as zeros. One is one product; of `side_by_side` products (gate and up) the rows are
/// read for each and the results are apart, of `added` ones (their gradient) rows are apart and the results added up. As one product over
/// all columns but for ExpertMatmul::sparse, whose kernel takes them one by one, tile by tile (tiles/grouped_tiles.h), and adds up in a pass of its own.
enum class Branches { one, side_by_side, added };
Compute grouped(const Shard& shard, double k, double n, Branches branches, const ExpertTile& tile,
                Elementwise fused = {});
Compute grouped_weight_gradient(const Shard& shard, double k, double n, Branches branches,
                                const ExpertTile& tile, Elementwise fused = {});

/// The work of two matmuls in one operation.
Compute both(Compute a, const Compute& b);
/// No matmul.
Compute only(Elementwise work);

}  // namespace podsim::workloads
