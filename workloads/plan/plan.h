// The sharding and execution of a training step: batch, mesh sizes, precision, remat, overlap. Each
// has a header of its own; code that needs only one includes that.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/quantity.h"
#include "workloads/plan/expert_matmul.h"
#include "workloads/plan/inference.h"
#include "workloads/plan/overlap.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/plan/precision.h"
#include "workloads/plan/remat.h"
#include "workloads/plan/ways.h"

namespace podsim::workloads {

struct Batch {
    std::int64_t tokens = 0;    ///< of the global batch
    std::int64_t sequence = 0;  ///< tokens per sequence
    /// Fractions of the batch, one after the other; gradients add up over them.
    int microbatches = 1;
    friend bool operator==(const Batch&, const Batch&) = default;
};

/// The fit of whole sequences into the shards of the batch.
struct Occupancy {
    std::int64_t sequences = 0;            ///< of the global batch: tokens / sequence
    std::int64_t shards = 1;               ///< data x fsdp x expert x microbatches
    std::int64_t sequences_per_shard = 0;  ///< ceil(sequences / shards), of one microbatch
    double occupied = 1;                   ///< sequences / (sequences_per_shard x shards)
    /// t = sequences_per_shard x sequence / context: tokens of one tensor group.
    double tokens_per_chip_group = 0;
};
/// Returns larger numbers of microbatches into which a shard's sequences divide evenly, each at
/// least twice the one before.
std::vector<int> further_microbatches(const Batch& batch, const Ways& ways);

Occupancy occupancy(const Batch& batch, const Ways& ways);

struct ExpertLoad {
    double capacity_factor = 1;  ///< tokens that every expert is padded to, over the mean
    /// Tokens of the chip with the most loaded experts, over the mean.
    double imbalance = 1;
    /// For every rank of the axis `expert` the tokens of its experts, over the mean; they add up to
    /// the number of ranks. Empty: all alike, as `imbalance` says.
    std::vector<double> loads{};

    /// True if ranks do unequal work: their experts take unequal numbers of tokens.
    [[nodiscard]] bool uneven() const;
    friend bool operator==(const ExpertLoad&, const ExpertLoad&) = default;
};

/// Queries and keys of a block; 0: no blocks, exactly the scores that the mask leaves.
struct ScoreBlock {
    double q = 0;
    double kv = 0;

    friend bool operator==(const ScoreBlock&, const ScoreBlock&) = default;
};

/// Blocks of the forward kernel, of the kernel of keys' and values' gradients (all of the backward
/// pass if it is fused), and of the kernel of queries' gradients. These are MaxText's sa_block_q,
/// sa_block_kv, sa_block_q_dkv, sa_block_kv_dkv, sa_block_q_dq, sa_block_kv_dq, which are 512
/// unless a recipe sets them.
struct AttentionBlocks {
    ScoreBlock forward{};
    ScoreBlock dkv{};
    ScoreBlock dq{};

    [[nodiscard]] bool any() const { return forward.q > 0; }
    friend bool operator==(const AttentionBlocks&, const AttentionBlocks&) = default;
};

/// The placement of a sequence along the context axis: n contiguous blocks, or 2 n segments of
/// which rank r has the r-th and the r-th from the end, so that causal attention is the same work
/// everywhere.
enum class Placement { zig_zag, plain };

/// The kernels of attention's gradients: dot products of a query and a key, in units of the forward
/// pass's two.
enum class BackwardKernels {
    /// 4: scores are there, or free, as the reference text counts; no flash kernel does that.
    book,
    /// 5: one kernel makes the scores once more (JAX's splash attention, use_fused_bwd_kernel).
    fused,
    /// 7: one kernel for queries' and one for keys' and values' gradients; both make scores and
    /// their gradient.
    split,
};

struct SelfAttention {
    bool causal = true;
    BackwardKernels backward = BackwardKernels::book;
    /// None: as many queries as fill VMEM, exact masks.
    AttentionBlocks blocks{};
    Placement placement = Placement::zig_zag;  ///< of causal attention
    /// Bytes of one score if attention is no kernel but two dot products around a softmax, all of
    /// whose scores go through HBM; 0: a flash kernel, which keeps them in VMEM. Scores that the
    /// mask leaves out are computed all the same.
    double scores = 0;
    /// Softmax subtracts a constant: no maximum is kept up to date.
    bool known_max_logit = false;
    /// VMEM of one core, which limits the queries that it takes at once.
    sim::Bytes vmem = sim::Bytes::infinity();
    double cores = 1;  ///< of a chip, which divide the heads
    friend bool operator==(const SelfAttention&, const SelfAttention&) = default;
};

/// The time at which the gradients of several microbatches are reduced. PyTorch's FSDP2 has all
/// three (set_requires_gradient_sync, set_requires_all_reduce).
enum class GradientReduction {
    /// After every microbatch, over all axes; the reduced gradients add up.
    each,
    /// Over fsdp and context after every microbatch, over data once, after the last one.
    data_once,
    /// Over all of them once: whole gradients of the chip's weights add up in HBM.
    once
};

struct TrainingPlan {
    Batch batch;
    Ways ways;
    Pipeline pipeline;
    Overlap overlap;
    ExpertLoad experts;
    ExpertPath moe;
    SelfAttention attention;
    Remat remat;
    Precision precision;
    /// Segments of the tokens whose logits are computed, and recomputed in the backward pass, one
    /// after the other; 1: all at once, and kept.
    int logit_chunks = 1;
    Optimizer optimizer = Optimizer::adam;
    /// Gradients are clipped by their global norm: all updates wait for its AllReduce, and
    /// gradients are read once more.
    bool clips_gradients = false;
    /// The state that data parallelism shards (ZeRO): 0 nothing, 1 the optimizer's state, 2
    /// gradients too. (ZeRO-3 is fsdp.) Gradients are reduce-scattered over data, once after the
    /// last microbatch, whole until then (1), or for every microbatch m, so that a rank keeps only
    /// its shard (2). With P bytes of each, that is 2 P or (m + 1) P of them and of the updated
    /// parameters, which are gathered a group at a time after that group's update.
    int zero = 0;
    /// With one microbatch, and with ZeRO-2, which is `each`, all are the same.
    GradientReduction reduction = GradientReduction::data_once;
    /// No embedding, unembedding, loss or optimizer: stages that are alike, as in formulas.
    bool layers_only = false;
    /// The forward pass and the loss alone: an evaluation step. It saves nothing and makes no
    /// gradients.
    bool forward_only = false;
    /// A step of inference in place of training: forward alone, with a cache. `batch` has its new
    /// tokens.
    std::optional<Inference> inference{};
    friend bool operator==(const TrainingPlan&, const TrainingPlan&) = default;

    /// True if an AllReduce over data follows every microbatch.
    [[nodiscard]] bool all_reduces_each() const { return reduces(GradientReduction::each); }
    /// True if nothing at all is reduced before the last one.
    [[nodiscard]] bool reduces_once() const { return reduces(GradientReduction::once); }

private:
    [[nodiscard]] bool reduces(GradientReduction when) const {
        return batch.microbatches > 1 && zero < 2 && reduction == when;
    }
};

}  // namespace podsim::workloads
