// Cost of each operation of a training step on one chip: FLOPs, matmul shapes and HBM bytes.
//
// Symbols: t tokens of one tensor group, T tensor ways, C context ways, S sequence length; D, F, N,
// K, H, V as in ModelSpec; g = 2 for a gated MLP (gate and up) and 1 for a plain one; b bytes of a
// compute element, d bytes of a gradient element. Between blocks, the tensor ways split activations
// over the sequence: r = t / T rows a chip. With X ways of tensor_transpose and Y of tensor,
// T = X Y, these are t / Y rows of D / X columns. In a product of D and F dimensions D is then
// D / X, and F is F / Y (Shard::block_rows, block_columns).
//
// Equations
//   a matmul m x k by k x n   2 m k n FLOPs, (m k + k n + m n) b bytes
//   attention forward         2 (H + Hv) N / T FLOPs for each pair of query and key
//                             (attention_pairs of model.h: S^2 of a sequence, halved when causal,
//                             about S W with a window); Hv is the width of values. Masked blocks
//                             are skipped.
//   attention backward        twice that (a flash kernel's own recomputation is not counted)
//   experts                   matmuls of t k load tokens, as many products as the chip has experts,
//                             each of an equal fraction; k experts a token, load as in ExpertLoad,
//                             of the chip's own rank if ranks are unequal
// Elementwise work is fused into the neighbouring matmul. Its HBM bytes and its operations on the
// vector unit (vector_work.h) belong to that operation, in which MXU, VPU and HBM overlap. Results
// of elementwise work are written once and read by the matmul:
//   norm and the residual sum before it   4 r D b
//                                         (read branch and stream; write stream and normed rows)
//   their backward                        4 r D b
//                                         (read two, read and write the gradient's stream)
//   activation function                   (g + 1) t F / T b
//                                         (read gate and up, write the hidden product)
//   softmax                               none (in registers)
// Rotary embedding and norms of queries and keys are separate kernels, which no matmul hides.
// Source: TPU module of LLaMA 3-8B and Qwen3-1.7B on v6e, MaxText @e591f30,
// tests/utils/reference_hlo_*.txt. One fusion splits a head's columns in halves, one of them
// negated, and one joins them with the original columns. Before these a fusion norms, and backward
// one multiplies by the sine.
//   rotated columns               5 t columns b (read, write halves; read both, write), backward 7
//   normed columns (values' too)  2 t columns b, backward 3 (read gradient and columns, write: an
//                                 assumption, the module ends there)
// They stay in a core's VMEM if they fit.
//
// The lookup reads its rows and writes t rows (partial ones if T > 1). Weights are read in the
// dtype that their gather brings, or as they are stored if nothing is gathered. The router's
// operation also copies r rows to r k load tokens of experts; `combine` sums them back.
#pragma once

#include "workloads/plan/precision.h"
#include "workloads/program/step_program.h"
#include "workloads/work/shard.h"

namespace podsim::workloads {

Compute embedding_lookup(const Shard& shard);
/// Adds t rows of gradient to the table's gradient, which it zeroes first unless it is
/// already `written`.
Compute embedding_scatter_add(const Shard& shard, bool written);

/// Operations of an MLP with `width` columns on this chip. `normed` includes the norm of its input.
Compute gate_up_forward(const Shard& shard, double width, bool normed);
Compute down_forward(const Shard& shard, double width);
Compute down_input_gradient(const Shard& shard, double width);
Compute down_weight_gradient(const Shard& shard, double width);
Compute gate_up_input_gradient(const Shard& shard, double width, bool normed);
Compute gate_up_weight_gradient(const Shard& shard, double width, bool normed);

Compute logits_forward(const Shard& shard);
/// Reads the logits and overwrites them with their gradient.
Compute loss(const Shard& shard);
Compute logits_input_gradient(const Shard& shard);
Compute logits_weight_gradient(const Shard& shard);

/// Returns the update of `parameters` local parameters. Adam reads p, g, m, v and writes p, m,
/// v; Lion does the same without v; SGD reads p and g and writes p. Adafactor reads g for the
/// mean squares of rows and columns, g again for that of the update and p for its scale, and
/// then works like SGD.
Compute optimizer_update(double parameters, Optimizer optimizer, const Precision& precision,
                         double copy_bytes = 0);

/// Returns the sum of squares of `parameters` local gradients.
Compute gradient_norm(double parameters, const Precision& precision);

}  // namespace podsim::workloads
