// The fraction of a model and a batch that one chip works on: every size after sharding.
#pragma once

#include <vector>

#include "workloads/plan/plan.h"
#include "workloads/plan/precision.h"
#include "workloads/plan/ranks.h"
#include "workloads/plan/remat.h"

namespace podsim::workloads {

struct ModelSpec;

/// Heads, widths and vocabulary are divided by the tensor ways.
struct Shard {
    double tokens = 0;  ///< t
    /// r = t / T; in inference, where every tensor rank has complete rows, t / X.
    double rows = 0;
    double sequences = 0;  ///< sequences of this shard
    double sequence = 0;   ///< S
    double context = 1;    ///< C
    /// True if the chip has one of C contiguous blocks of each sequence, with a causal mask.
    bool plain = false;
    /// Context rank, if ranks do unequal work.
    int rank = 0;
    double d_model = 0;   ///< D
    double d_ff = 0;      ///< F / T
    double branches = 2;  ///< g
    /// X, the ways of tensor_transpose; T = X tensor.
    double transposed = 1;
    double heads = 0;  ///< N / T
    /// K / T; a fraction if columns are split instead of heads.
    double kv_heads = 0;
    double head_dim = 0;   ///< H
    double value_dim = 0;  ///< Hv
    bool shared_kv = false;
    bool v_norm = false;
    double vocabulary = 0;  ///< V / T
    double window = 0;      ///< of local layers; 0: none
    /// True if T does not divide K: complete heads are gathered.
    bool kv_split_by_columns = false;
    double all_kv_heads = 0;  ///< K
    bool parallel_block = false;
    bool causal = true;
    /// True if the backward pass repeats the norm or, for activations, the activation function. The
    /// output of a matmul is then kept, but not its normed input, or not the hidden product.
    bool attention_norms_again = false;
    bool mlp_norms_again = false;
    bool activations_again = false;
    /// Norms of width D in each block of a layer.
    double norms_of_block = 1;
    /// True if one of these norms is applied to the block's output.
    bool outputs_normed = false;
    /// Tensors of a layer that backward operations read (remat.h), without and with experts.
    TensorSet read_backward{};
    TensorSet read_backward_of_experts{};
    bool layer_norm = false;
    bool qk_norm = false;
    bool mlp_bias = false;
    bool rotary = true;
    bool positions = false;  ///< learned
    double vmem = 0;         ///< bytes of one core
    double cores = 1;        ///< per chip
    BackwardKernels attention_backward = BackwardKernels::book;
    AttentionBlocks attention_blocks;
    double score_bytes = 0;  ///< SelfAttention::scores
    /// True if the backward pass makes the scores again, because attention's output is kept.
    bool scores_again = false;
    bool known_max_logit = false;
    Precision precision;
    /// True if a collective brings the weights, in the dtype that they are used in.
    bool weights_gathered = false;
    /// True if weights are quantised before the matmul reads them: by their gather, or as stored.
    bool weights_quantised = false;
    /// Bytes per element that matmuls in the plan's precision read.
    double weight_bytes = 2;
    /// Bytes per element that matmuls in bf16 read.
    double plain_weight_bytes = 2;

    struct Latent {
        double ways = 1;  ///< T
        /// Gathered columns: q + kv + rope, without q if it has no rank.
        double width = 0;
        double q_rank = 0;  ///< complete
        double kv_rank = 0;
        double rope_dim = 0;
        double direct = 0;  ///< N H / T columns of queries without a rank
        /// Returns the columns of this chip.
        [[nodiscard]] double columns() const { return width / ways + direct; }
    } latent;

    struct Experts {
        ExpertPath path{};
        /// Dense path: rows per expert and sequence; otherwise 0.
        double capacity = 0;
        double routed = 0;  ///< experts of the model
        double held = 0;    ///< experts of this chip
        /// Experts of this chip that are computed: all or, in inference, the mean number
        /// that its rows meet.
        double reached = 0;
        double per_token = 0;    ///< k
        bool gathered = false;   ///< weights_gathered of experts
        bool quantised = false;  ///< weights_quantised of experts
        double weight_bytes = 2;
        double tokens = 0;  ///< t k load, of this chip's experts
        /// t k load that the chip's own tokens make; the same unless ranks are unequal.
        double copies = 0;
        double d_ff = 0;          ///< of one expert, / T
        double shared_width = 0;  ///< of all shared experts, / T
        bool shared_gate = false;
    } experts;

    /// Inference: a run on the fullest way of the batch (placed_runs.h).
    struct Run {
        double sequences = 0;
        /// Sequences attended to, if members of the axis `cache` have different ones.
        double attended = 0;
        double fresh = 0;
        double cached = 0;
        double logits = 0;
        bool padding = false;
    };
    std::vector<Run> runs{};
    struct Cache {
        double ways = 1;  ///< Z: members of the axis `cache`
        CacheSplit split = CacheSplit::batch;
        double element = 2;
        bool dense = false;
    } cache{};

    /// Sides of this chip's block of a weight matrix: D / X by X times its fraction of the columns
    /// that all T ways split. A projection into these columns makes partial sums over X; a
    /// projection out of them reads an input that is gathered over X.
    [[nodiscard]] double block_rows() const { return d_model / transposed; }
    [[nodiscard]] double block_columns(double share) const { return share * transposed; }

    /// Returns the columns of queries, keys and values, the output of attention's projections.
    [[nodiscard]] double qkv_width() const {
        return heads * head_dim + kv_heads * (head_dim + value_dim);
    }
    /// Returns those columns of them that the projection makes.
    [[nodiscard]] double projected_width() const {
        return qkv_width() - (shared_kv ? kv_heads * value_dim : 0);
    }
    /// Returns the columns of attention's output.
    [[nodiscard]] double attended_width() const { return heads * value_dim; }
    /// A causal sequence lies on the context ranks in segments (Placement). Returns the segments of
    /// a rank, and the keys of a segment.
    [[nodiscard]] double pieces_of_rank() const { return plain ? 1 : 2; }
    [[nodiscard]] double piece() const { return sequence / (context * pieces_of_rank()); }
    /// Returns how many segments a window reaches back from a query's own (window_ring.h).
    [[nodiscard]] int reach() const;
    /// Returns the elements of the complete keys and values of this shard's whole sequences:
    /// t C K (H + Hv) / T, or those of all K heads if their columns are split.
    [[nodiscard]] double kv_elements() const {
        return tokens * context * (kv_split_by_columns ? all_kv_heads : kv_heads) *
               (head_dim + value_dim);
    }
};
/// Returns the shard of a chip. `plan` has been validated against `model`. The sizes of attention
/// are those of local layers if `local`, otherwise those of the others.
Shard make_shard(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks = {},
                 bool local = true);

}  // namespace podsim::workloads
