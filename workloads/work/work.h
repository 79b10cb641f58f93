// What each operation of a training step costs one chip: FLOPs, matmul shapes and HBM bytes.
//
// Symbols: t tokens of one tensor group, T tensor ways, C context ways, S sequence length, D, F, N,
// K, H, V as in ModelSpec, g = 2 for a gated MLP (gate and up) and 1 for a plain one, b bytes of a
// compute element, d bytes of a gradient element. Between blocks, activations are split over the
// sequence by the tensor ways: r = t / T rows a chip. With X ways of tensor_transpose and Y of tensor, T = X Y, that is t / Y rows
// of D / X columns, and in a product of D and F dimensions D is D / X, F is F / Y (Shard::block_rows, block_columns).
//
// Equations
//   a matmul m x k by k x n   2 m k n FLOPs, (m k + k n + m n) b bytes
//   attention forward         2 (H + Hv) N / T FLOPs for each pair of query and key (attention_pairs of
//                             model.h: S^2 of a sequence, halved when causal, about S W with a window);
//                             Hv is the width of values. Masked blocks are skipped.
//   attention backward        twice that (a flash kernel's own recomputation is not counted)
//   experts                   matmuls of t k load tokens, as many products as the chip has experts, each
//                             of an equal share; k experts a token, load as in ExpertLoad, of the chip's
//                             own rank where ranks are unequal
// Elementwise work is fused into the neighbouring matmul: its HBM bytes and its operations on the vector unit (counts
// in vector_work.h) are that operation's, inside which MXU, VPU and HBM overlap. Results of elementwise work are
// written once and read by the matmul:
//   norm and the residual sum before it   4 r D b
//                                         (read branch and stream; write stream and normed rows)
//   their backward                        4 r D b
//                                         (read two, read and write the gradient's stream)
//   activation function                   (g + 1) t F / T b
//                                         (read gate and up, write the hidden product)
//   softmax                               none (in registers)
// Rotary embedding and norms of queries and keys are kernels of their own, which no matmul hides (TPU module of LLaMA 3-8B and Qwen3-1.7B
// on v6e, MaxText @e591f30, tests/utils/reference_hlo_*.txt: a fusion splits a head's columns in halves, one of them negated, one joins
// them with the columns as they were; before them one norms, and backward one multiplies by the sine):
//   rotated columns                       5 t columns b (read, write halves; read both, write), backward 7
//   normed columns (values' too)          2 t columns b, backward 3 (read gradient and columns, write: an assumption, the module ends there)
// unless they fit into a core's VMEM.
// The lookup reads its rows and writes t rows (partial ones when T > 1).
// Weights are read in the dtype that their gather brings, or as they are stored where nothing is gathered.
// Tokens of experts: the router's operation also copies r rows to r k load, `combine` sums them back.
#pragma once

#include "workloads/plan/precision.h"
#include "workloads/program/step_program.h"
#include "workloads/shards/shard.h"

namespace podsim::workloads {

Compute embedding_lookup(const Shard& shard);
/// Adds t rows of gradient into the table's; zeroes it first unless something was `written` into it.
Compute embedding_scatter_add(const Shard& shard, bool written);

/// An MLP of `width` columns on this chip; `normed`: the norm of its input belongs to it.
Compute gate_up_forward(const Shard& shard, double width, bool normed);
Compute down_forward(const Shard& shard, double width);
Compute down_input_gradient(const Shard& shard, double width);
Compute down_weight_gradient(const Shard& shard, double width);
Compute gate_up_input_gradient(const Shard& shard, double width, bool normed);
Compute gate_up_weight_gradient(const Shard& shard, double width, bool normed);

Compute logits_forward(const Shard& shard);
/// Reads the logits and writes their gradient in their place.
Compute loss(const Shard& shard);
Compute logits_input_gradient(const Shard& shard);
Compute logits_weight_gradient(const Shard& shard);

/// HBM traffic of `parameters` local parameters: Adam reads p, g, m, v and writes p, m, v; Lion without v; SGD
/// reads p and g and writes p. Adafactor reads g for the mean squares of rows and columns, g again for the update's own, p for
/// its scale, then as SGD.
Compute optimizer_update(double parameters, Optimizer optimizer, const Precision& precision,
                         double copy_bytes = 0);

/// The sum of squares of so many local gradients.
Compute gradient_norm(double parameters, const Precision& precision);

}  // namespace podsim::workloads
