// What each operation of a training step costs one chip: FLOPs, matmul shapes and HBM bytes.
//
// Symbols: t tokens of one tensor group, T tensor ways, C context ways, S sequence length, D, F, N,
// K, H, V as in ModelSpec, g = 2 for a gated MLP (gate and up) and 1 for a plain one, b bytes of a
// compute element, d bytes of a gradient element. Between blocks, activations are split over the
// sequence by the tensor ways: r = t / T rows a chip.
//
// Equations
//   a matmul m x k by k x n   2 m k n FLOPs, (m k + k n + m n) b bytes
//   attention forward         4 t S N H / T FLOPs, halved when causal (masked blocks are skipped)
//   attention backward        twice that (a flash kernel's own recomputation is not counted)
// Elementwise work is fused into the neighbouring matmul: no FLOPs and no time of its own; its HBM
// bytes are counted with that matmul. Results of elementwise work are written once and read by the
// matmul:
//   norm and the residual sum before it   4 r D b
//                                         (read branch and stream; write stream and normed rows)
//   their backward                        4 r D b
//                                         (read two, read and write the gradient's stream)
//   activation function                   (g + 1) t F / T b
//                                         (read gate and up, write the hidden product)
//   rotary embedding, softmax             none (in registers)
// Attention is flash-style: queries and outputs once, keys and values of the whole sequence once,
// no scores. The lookup reads its rows and writes t rows (partial ones when T > 1). With zig-zag
// placement of causal context shards every chip does the same work exactly.
#pragma once

#include "workloads/model.h"
#include "workloads/plan.h"
#include "workloads/program.h"

namespace podsim::workloads {

/// The part of model and batch that one chip works on. Heads, d_ff and vocabulary are per tensor
/// way.
struct Shard {
    double tokens = 0;      ///< t
    double rows = 0;        ///< r = t / T
    double sequences = 0;   ///< sequences of this shard
    double sequence = 0;    ///< S
    double context = 1;     ///< C
    double d_model = 0;     ///< D
    double d_ff = 0;        ///< F / T
    double branches = 2;    ///< g
    double heads = 0;       ///< N / T
    double kv_heads = 0;    ///< K / T
    double head_dim = 0;    ///< H
    double vocabulary = 0;  ///< V / T
    bool causal = true;
    bool tied = false;
    bool recomputes_elementwise =
        false;  ///< remat of matmuls: norms and activations again in backward
    Precision precision;

    [[nodiscard]] double qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
    [[nodiscard]] double query_width() const { return heads * head_dim; }
    /// Elements of the keys and values of the whole sequences of this shard: t C x 2 K H / T.
    [[nodiscard]] double kv_elements() const { return tokens * context * 2 * kv_heads * head_dim; }
};
/// `plan` has been validated against `model`.
Shard make_shard(const ModelSpec& model, const TrainingPlan& plan);

Compute embedding_lookup(const Shard& shard);
/// Adds t rows of gradient into the table's; zeroes it first unless the (tied) unembedding wrote
/// it.
Compute embedding_scatter_add(const Shard& shard);

Compute qkv_forward(const Shard& shard);
Compute attention_forward(const Shard& shard);
Compute out_forward(const Shard& shard);
Compute gate_up_forward(const Shard& shard);
Compute down_forward(const Shard& shard);

Compute down_input_gradient(const Shard& shard);
Compute down_weight_gradient(const Shard& shard);
Compute gate_up_input_gradient(const Shard& shard);
Compute gate_up_weight_gradient(const Shard& shard);
Compute out_input_gradient(const Shard& shard);
Compute out_weight_gradient(const Shard& shard);
Compute attention_backward(const Shard& shard);
Compute qkv_input_gradient(const Shard& shard);
Compute qkv_weight_gradient(const Shard& shard);

Compute logits_forward(const Shard& shard);
/// Reads the logits and writes their gradient in their place (compute dtype).
Compute loss(const Shard& shard);
Compute logits_input_gradient(const Shard& shard);
Compute logits_weight_gradient(const Shard& shard);

/// HBM traffic of `parameters` local parameters: Adam reads p, g, m, v and writes p, m, v; SGD
/// reads p and g and writes p.
Compute optimizer_update(double parameters, Optimizer optimizer, const Precision& precision);

}  // namespace podsim::workloads
