// Cost of a layer's routed experts on one chip: the router, the experts' own matmuls, and the moves
// of rows to the experts and back. Symbols and equations are those of work.h; r rows of D have r k
// copies. Shared experts are an MLP of work.h.
//
// Work by ExpertMatmul, in addition to the router's matmul, softmax and choice and the experts'
// matmuls (matmul_work.h):
//   ideal         router: rows read, copies written; combine: copies read, rows written; backward
//                 the same, and copies read once more for the gradient of their weights
//   sparse        router: argsort (sorted, vector_work.h) of t k experts, 16 bytes each, and copies
//                 gathered in its order: each read and written. combine: the inverse argsort,
//                 copies gathered back, then added up as above (the sum's operands are cast to f32
//                 in the same fusion). Backward a gather again for each, then the sum over k;
//                 without custom_sort_vjp a scatter-add: zeros written, gradients read, sums read
//                 and written. Rows in the order of indices count as gathered (Compute). Every
//                 tensor rank sorts all rows whole. Biases of experts are one gathered row for each
//                 sorted row, and nothing fuses with the grouped matmuls.
//   dense         C = floor(ceil(S k / E) capacity_factor) slots per expert and sequence, masks
//                 [S, E, C] as weights (b) and booleans (1). router: masks written, dispatch
//                 BSM,BSEC->EBCM; combine EBCM,BSEC->BSM. Each is 2 S E C D FLOPs a sequence, as
//                 dense as any: 2 D S k capacity_factor a token. Backward combine has two products
//                 (outputs, mask), dispatch one. Experts work on E C rows of a sequence, filled or
//                 not.
//   dense_of_all  every expert on every row; combine adds up E results per row
// Source: MaxText layers/moe.py. XLA turns a product with weights over k alone into a sum
// (algebraic simplifier, dot_strength_reduction). The cumulative sum of the dense path's slots
// (t k E numbers of 4 bytes) is left out.
#pragma once

#include "workloads/program/step_program.h"
#include "workloads/work/shard.h"

namespace podsim::workloads {

/// Returns the norm, the router, and the moves of rows to their experts.
Compute router_forward(const Shard& shard);
Compute router_input_gradient(const Shard& shard);
Compute router_weight_gradient(const Shard& shard);
Compute experts_gate_up_forward(const Shard& shard);
Compute experts_down_forward(const Shard& shard);
Compute experts_down_input_gradient(const Shard& shard);
Compute experts_down_weight_gradient(const Shard& shard);
Compute experts_gate_up_input_gradient(const Shard& shard);
Compute experts_gate_up_weight_gradient(const Shard& shard);
/// Sums the experts' outputs of each token. The backward pass copies the gradient, and reads the
/// outputs for the gradient of the router's weights.
Compute combine_forward(const Shard& shard);
Compute combine_gradient(const Shard& shard);

/// Returns the bytes of the dense path's masks.
double mask_bytes(const Shard& shard);

}  // namespace podsim::workloads
