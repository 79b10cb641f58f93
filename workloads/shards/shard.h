// The part of a model and a batch that one chip works on: what sharding leaves of every size.
#pragma once

#include <vector>

#include "workloads/plan/plan.h"
#include "workloads/plan/precision.h"
#include "workloads/plan/ranks.h"
#include "workloads/plan/remat.h"

namespace podsim::workloads {

struct ModelSpec;

/// Heads, widths and vocabulary are per tensor way.
struct Shard {
    double tokens = 0;     ///< t
    double rows = 0;       ///< r = t / T; of inference, whose rows tensor ways have complete, t / X
    double sequences = 0;  ///< sequences of this shard
    double sequence = 0;   ///< S
    double context = 1;    ///< C
    bool plain = false;    ///< of each sequence the chip has one of C contiguous blocks, causal
    int rank = 0;          ///< which, when ranks do unequal work
    double d_model = 0;    ///< D
    double d_ff = 0;       ///< F / T
    double branches = 2;   ///< g
    double transposed = 1;  ///< X: ways of tensor_transpose, T = X tensor
    double heads = 0;       ///< N / T
    double kv_heads = 0;    ///< K / T; a fraction when columns are split instead of heads
    double head_dim = 0;    ///< H
    double value_dim = 0;   ///< Hv
    bool shared_kv = false;
    bool v_norm = false;
    double vocabulary = 0;             ///< V / T
    double window = 0;                 ///< of local layers; 0: none
    bool kv_split_by_columns = false;  ///< T does not divide K: complete heads are gathered
    double all_kv_heads = 0;           ///< K
    bool parallel_block = false;
    bool causal = true;
    /// In the backward pass: a matmul's output is kept, and neither its normed input nor (activations) the hidden
    /// product.
    bool attention_norms_again = false;
    bool mlp_norms_again = false;
    bool activations_again = false;
    double norms_of_block = 1;    ///< norms of width D of each of a layer's blocks
    bool outputs_normed = false;  ///< one of them norms what the block puts out
    /// What backward operations read of a layer (remat.h), without and with experts.
    TensorSet read_backward{};
    TensorSet read_backward_of_experts{};
    bool layer_norm = false;
    bool qk_norm = false;
    bool mlp_bias = false;
    bool rotary = true;
    bool positions = false;  ///< learned
    double vmem = 0;         ///< bytes of one core
    double cores = 1;        ///< of the chip
    BackwardKernels attention_backward = BackwardKernels::book;
    AttentionBlocks attention_blocks;
    double score_bytes = 0;  ///< SelfAttention::scores
    bool scores_again =
        false;  ///< that the backward pass of attention makes once more, its output being kept
    bool known_max_logit = false;
    Precision precision;
    bool weights_gathered =
        false;  ///< weights arrive by a collective in the dtype that they are used in
    bool weights_quantised = false;  ///< by what gathers them
    double weight_bytes = 2;         ///< of an element, as matmuls in the plan's precision read it
    double plain_weight_bytes = 2;   ///< as matmuls in bf16 read it

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
        ExpertPath path{};        ///< how they are computed
        double capacity = 0;      ///< dense: rows of an expert, of each sequence; 0 otherwise
        double routed = 0;        ///< of the model
        double held = 0;          ///< of this chip
        double reached = 0;       ///< of those: all, or in inference what its rows meet in the mean
        double per_token = 0;     ///< k
        bool gathered = false;    ///< as weights_gathered, of experts
        bool quantised = false;   ///< as weights_quantised, of experts
        double weight_bytes = 2;  ///< as above
        double tokens = 0;        ///< t k load, of this chip's experts
        double copies =
            0;  ///< t k load that the chip's own tokens make: the same without unequal ranks
        double d_ff = 0;          ///< of one expert, / T
        double shared_width = 0;  ///< of all shared experts, / T
        bool shared_gate = false;
    } experts;

    /// Of inference: a run as the fullest way of the batch has it (placed_runs.h).
    struct Run {
        double sequences = 0;
        double attended = 0;  ///< of them, where members of the axis `cache` have different ones
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

    /// This chip's block of a weight matrix: D / X by X times its share of the columns that all T ways split. What
    /// a projection into them makes is partial sums over X, what one out of them reads is gathered over X.
    [[nodiscard]] double block_rows() const { return d_model / transposed; }
    [[nodiscard]] double block_columns(double share) const { return share * transposed; }

    /// What attention's projections write: queries, keys and values.
    [[nodiscard]] double qkv_width() const {
        return heads * head_dim + kv_heads * (head_dim + value_dim);
    }
    /// Of those, the columns that the projection makes.
    [[nodiscard]] double projected_width() const {
        return qkv_width() - (shared_kv ? kv_heads * value_dim : 0);
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
/// `plan` has been validated against `model`. Sizes of attention are those of layers that are `local`, or of the others.
Shard make_shard(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks = {},
                 bool local = true);

}  // namespace podsim::workloads
