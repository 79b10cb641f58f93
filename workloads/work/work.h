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
//                             of an equal share; k experts a token, load as in TrainingPlan, of the chip's
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
//   rotary embedding, softmax             none (in registers)
// Attention is flash-style, no scores: queries and outputs once, and every block of queries that fits VMEM reads the
// keys and values that it sees. One block holds query rows of all heads that share keys and values. With n blocks of a
// sequence of which a chip has 1/C, keys and values are read n times in full attention, (n + 1/C) / 2 times in
// causal attention (a block reads up to its own end; zig-zag placement has two pieces of n / 2 blocks), and in local
// attention each block reads its window and itself. The backward pass reads as often, and adds to the gradients of keys
// and values in HBM as often: 3 n - 1 times their size in all.
// Plain placement of causal shards: rank r of C has the r-th contiguous block of S / C queries and sees S / C (r + 1/2) keys
// for each on average, so (2 r + 1) / (2 C^2) of the S^2 pairs; with b blocks of queries that fit VMEM in its own, it
// reads (b r + (b + 1) / 2) / C times the keys and values of a sequence. Their gradients are added to as often but for
// the first time, in r + 1 of C blocks; the others it zeroes (gathered) or passes on untouched (ring attention).
// The lookup reads its rows and writes t rows (partial ones when T > 1). With zig-zag
// placement of causal context shards every chip does the same work exactly, but for a window: its first
// queries see fewer keys, and the chips without them set the pace.
// Parts of attention to a window (window_ring.h): a part reads queries and outputs of the pieces of queries that it works
// on, and of the keys and values what its blocks of queries see. Gradients of a piece of keys are written whole, zeroes where
// no query sees it.
// Weights are read in the dtype that their gather brings, or as they are stored where nothing is gathered.
// Tokens of experts: the router's operation also copies r rows to r k load, `combine` sums them back.
#pragma once

#include <span>

#include "workloads/models/model.h"
#include "workloads/plan/precision.h"
#include "workloads/plan/ranks.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

enum class Optimizer;

/// The part of model and batch that one chip works on. Heads, widths and vocabulary are per tensor way.
struct Shard {
    double tokens = 0;      ///< t
    double rows = 0;        ///< r = t / T
    double sequences = 0;   ///< sequences of this shard
    double sequence = 0;    ///< S
    double context = 1;     ///< C
    bool plain = false;     ///< of each sequence the chip has one of C contiguous blocks, causal
    int rank = 0;           ///< which, when ranks do unequal work
    double d_model = 0;     ///< D
    double d_ff = 0;        ///< F / T
    double branches = 2;    ///< g
    double transposed = 1;  ///< X: ways of tensor_transpose, T = X tensor
    double heads = 0;       ///< N / T
    double kv_heads = 0;    ///< K / T; a fraction when columns are split instead of heads
    double head_dim = 0;    ///< H
    double value_dim = 0;   ///< Hv
    double vocabulary = 0;  ///< V / T
    double window = 0;      ///< of local layers; 0: none
    bool kv_split_by_columns = false;  ///< T does not divide K: complete heads are gathered
    double all_kv_heads = 0;           ///< K
    bool parallel_block = false;
    bool causal = true;
    bool tied = false;
    /// In the backward pass: a matmul's output is kept, and neither its normed input nor (activations) the hidden
    /// product.
    bool attention_norms_again = false;
    bool mlp_norms_again = false;
    bool activations_again = false;
    double norms_of_block = 1;  ///< norms of width D of each of a layer's blocks
    bool layer_norm = false;
    bool qk_norm = false;
    bool rotary = true;
    bool positions = false;  ///< learned
    double vmem = 0;         ///< bytes of one core
    Precision precision;
    bool weights_gathered =
        false;                ///< weights arrive by a collective in the dtype that they are used in
    double weight_bytes = 2;  ///< of an element, as matmuls in the plan's precision read it
    double plain_weight_bytes = 2;  ///< as matmuls in bf16 read it

    struct Latent {
        double ways = 1;    ///< T
        double width = 0;   ///< columns that are gathered: q + kv + rope (no q when it has no rank)
        double q_rank = 0;  ///< complete
        double kv_rank = 0;
        double rope_dim = 0;
        double direct = 0;  ///< N H / T columns of queries without a rank
        /// Columns of this chip.
        [[nodiscard]] double columns() const { return width / ways + direct; }
    } latent;

    struct Experts {
        double routed = 0;        ///< of the model
        double held = 0;          ///< of this chip
        double per_token = 0;     ///< k
        bool gathered = false;    ///< as weights_gathered, of experts
        double weight_bytes = 2;  ///< as above
        double tokens = 0;        ///< t k load, of this chip's experts
        double copies =
            0;  ///< t k load that the chip's own tokens make: the same without unequal ranks
        double d_ff = 0;          ///< of one expert, / T
        double shared_width = 0;  ///< of all shared experts, / T
    } experts;

    /// This chip's block of a weight matrix: D / X by X times its share of the columns that all T ways split. What
    /// a projection into them makes is partial sums over X, what one out of them reads is gathered over X.
    [[nodiscard]] double block_rows() const { return d_model / transposed; }
    [[nodiscard]] double block_columns(double share) const { return share * transposed; }

    /// What attention's projections write: queries, keys and values.
    [[nodiscard]] double qkv_width() const {
        return heads * head_dim + kv_heads * (head_dim + value_dim);
    }
    /// Attention's output.
    [[nodiscard]] double attended_width() const { return heads * value_dim; }
    /// Of the pieces in which a causal sequence lies on the context ranks (Placement): of a rank, and keys of one.
    [[nodiscard]] double pieces_of_rank() const { return plain ? 1 : 2; }
    [[nodiscard]] double piece() const { return sequence / (context * pieces_of_rank()); }
    /// Pieces that a window reaches back from a query's own (window_ring.h).
    [[nodiscard]] int reach() const;
    /// Elements of the complete keys and values of the whole sequences of this shard: t C K (H + Hv) / T,
    /// of all K heads where their columns are split.
    [[nodiscard]] double kv_elements() const {
        return tokens * context * (kv_split_by_columns ? all_kv_heads : kv_heads) *
               (head_dim + value_dim);
    }
};
/// `plan` has been validated against `model`.
Shard make_shard(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks = {});

Compute embedding_lookup(const Shard& shard);
/// Adds t rows of gradient into the table's; zeroes it first unless the (tied) unembedding wrote
/// it.
Compute embedding_scatter_add(const Shard& shard);

/// Down projections of latent attention.
Compute latent_forward(const Shard& shard);
Compute latent_input_gradient(const Shard& shard);
Compute latent_weight_gradient(const Shard& shard);
/// From the normed rows, or the up projections from the latents.
Compute qkv_forward(const Shard& shard);
Compute qkv_input_gradient(const Shard& shard);
Compute qkv_weight_gradient(const Shard& shard);
/// Rows of queries that one core of attention works on at a time: the largest power of two of which query, sum of
/// the output and scores against 512 keys (4-byte elements but for the query) fill at most half of its VMEM.
double query_block_rows(const Shard& shard);
/// How often attention reads the keys and values of whole sequences (a fraction where it skips masked ones).
double key_value_passes(const Shard& shard, bool local);
Compute attention_forward(const Shard& shard, bool local);
Compute attention_backward(const Shard& shard, bool local);
/// With plain placement: the part of it with the keys of one block, the chip's own or an earlier one.
Compute attention_forward_to(const Shard& shard, int block);
Compute attention_backward_to(const Shard& shard, int block);
/// Of causal attention to a window: the part of it between those pieces of queries and keys. `first`: of the rank's
/// parts; later ones read what is there of outputs (backward: of queries' gradients) again.
struct PiecePair {
    int query = 0;
    int key = 0;
    friend bool operator==(const PiecePair&, const PiecePair&) = default;
};
Compute attention_forward_part(const Shard& shard, std::span<const PiecePair> pairs, bool first);
Compute attention_backward_part(const Shard& shard, std::span<const PiecePair> pairs, bool first);
Compute out_forward(const Shard& shard);
Compute out_input_gradient(const Shard& shard);
Compute out_weight_gradient(const Shard& shard);

/// An MLP of `width` columns on this chip; `normed`: the norm of its input belongs to it.
Compute gate_up_forward(const Shard& shard, double width, bool normed);
Compute down_forward(const Shard& shard, double width);
Compute down_input_gradient(const Shard& shard, double width);
Compute down_weight_gradient(const Shard& shard, double width);
Compute gate_up_input_gradient(const Shard& shard, double width, bool normed);
Compute gate_up_weight_gradient(const Shard& shard, double width, bool normed);

/// Norm, router and copies of the rows for their experts.
Compute router_forward(const Shard& shard);
Compute router_input_gradient(const Shard& shard);
Compute router_weight_gradient(const Shard& shard);
Compute experts_gate_up_forward(const Shard& shard);
Compute experts_down_forward(const Shard& shard);
Compute experts_down_input_gradient(const Shard& shard);
Compute experts_down_weight_gradient(const Shard& shard);
Compute experts_gate_up_input_gradient(const Shard& shard);
Compute experts_gate_up_weight_gradient(const Shard& shard);
/// Sums the experts' outputs of each token; its backward copies the gradient.
Compute combine_forward(const Shard& shard);
Compute combine_gradient(const Shard& shard);

Compute logits_forward(const Shard& shard);
/// Reads the logits and writes their gradient in their place (compute dtype).
Compute loss(const Shard& shard);
Compute logits_input_gradient(const Shard& shard);
Compute logits_weight_gradient(const Shard& shard);

/// HBM traffic of `parameters` local parameters: Adam reads p, g, m, v and writes p, m, v; SGD
/// reads p and g and writes p.
Compute optimizer_update(double parameters, Optimizer optimizer, const Precision& precision,
                         double copy_bytes = 0);

}  // namespace podsim::workloads
