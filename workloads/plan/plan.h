// How a training step is sharded and run: batch, mesh sizes, precision, remat, overlap. Each part has a header of its own;
// what needs one part alone includes that.
#pragma once

#include <optional>

#include "sim/base/quantity.h"
#include "workloads/plan/attention_blocks.h"
#include "workloads/plan/expert_load.h"
#include "workloads/plan/expert_matmul.h"
#include "workloads/plan/inference.h"
#include "workloads/plan/occupancy.h"
#include "workloads/plan/overlap.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/plan/precision.h"
#include "workloads/plan/remat.h"
#include "workloads/plan/ways.h"

namespace podsim::workloads {

/// Where the parts of a sequence lie along the context axis: in n contiguous blocks, or in 2 n pieces of which
/// rank r has the r-th and the r-th from the end, so that causal attention is the same work everywhere.
enum class Placement { zig_zag, plain };

/// How attention's gradients are made: dot products of a query and a key, in units of the forward pass's two.
enum class BackwardKernels {
    book,  ///< 4: scores are there, or free, as the reference text counts; no flash kernel does that
    fused,  ///< 5: one kernel makes the scores once more (JAX's splash attention, use_fused_bwd_kernel)
    split,  ///< 7: one kernel for queries' and one for keys' and values' gradients; both make scores and their gradient
};

struct SelfAttention {
    bool causal = true;
    BackwardKernels backward = BackwardKernels::book;
    AttentionBlocks blocks{};                  ///< none: as many queries as fill VMEM, exact masks
    Placement placement = Placement::zig_zag;  ///< of causal attention
    /// No kernel but two dot products around a softmax, all of whose scores go through HBM: bytes of one of them; 0: a flash kernel,
    /// which keeps them in VMEM. Scores that the mask leaves out are made all the same.
    double scores = 0;
    bool known_max_logit = false;  ///< softmax subtracts a constant: no maximum is kept up to date
    sim::Bytes vmem = sim::Bytes::infinity();  ///< of one core: how many queries it takes at once
    double cores = 1;                          ///< of a chip, which deal out heads
    friend bool operator==(const SelfAttention&, const SelfAttention&) = default;
};

/// When the gradients of several microbatches are reduced. Three programs do it in three ways (PyTorch's FSDP2 has all of them:
/// set_requires_gradient_sync, set_requires_all_reduce).
enum class GradientReduction {
    each,       ///< behind every microbatch, over all axes; what is reduced adds up
    data_once,  ///< over fsdp and context behind every microbatch, over data once, behind the last one
    once        ///< over all of them once: whole gradients of the chip's weights add up in HBM
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
    /// Parts of the tokens whose logits are made, and made again in the backward pass, one after the other; 1: all at
    /// once, and kept.
    int logit_chunks = 1;
    Optimizer optimizer = Optimizer::adam;
    /// Gradients are clipped by their global norm: all updates wait for its AllReduce, and gradients are read once more.
    bool clips_gradients = false;
    /// What data parallelism shards (ZeRO): 0 nothing, 1 the optimizer's state, 2 gradients too. (ZeRO-3 is fsdp.)
    /// Gradients are reduce-scattered over data, once after the last microbatch, whole until then (1), or for every
    /// microbatch m, so that a way keeps its share alone (2): with P bytes of each, 2 P or (m + 1) P of them and of the
    /// updated parameters, which are gathered a group at a time behind that group's update.
    int zero = 0;
    /// Of one microbatch, and of ZeRO-2, which is `each`, all are the same.
    GradientReduction reduction = GradientReduction::data_once;
    /// No embedding, unembedding, loss or optimizer: stages that are alike, as formulas have them.
    bool layers_only = false;
    /// The forward pass and the loss alone: an evaluation step. Nothing is saved, no gradients are made.
    bool forward_only = false;
    /// A step of inference in place of training: forward alone, with a cache. `batch` has its new tokens.
    std::optional<Inference> inference{};
    friend bool operator==(const TrainingPlan&, const TrainingPlan&) = default;

    /// Whether an AllReduce over data follows every microbatch.
    [[nodiscard]] bool all_reduces_each() const { return reduces(GradientReduction::each); }
    /// Whether nothing at all is reduced before the last one.
    [[nodiscard]] bool reduces_once() const { return reduces(GradientReduction::once); }

private:
    [[nodiscard]] bool reduces(GradientReduction when) const {
        return batch.microbatches > 1 && zero < 2 && reduction == when;
    }
};

}  // namespace podsim::workloads
