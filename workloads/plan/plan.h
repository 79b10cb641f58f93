// How a training step is sharded and run: batch, mesh sizes, precision, remat, overlap.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "collectives/vocabulary/operation.h"
#include "sim/base/quantity.h"
#include "workloads/models/model.h"
#include "workloads/models/weights.h"
#include "workloads/plan/remat.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

enum class Optimizer { adam, sgd };

/// The order in which pipeline stages take their microbatches (pipeline_order.h).
enum class PipelineSchedule { gpipe, one_f_one_b, interleaved, zero_bubble };

/// Bytes of one element of each kind of state, and what projections and MLPs multiply. Attention's dot products,
/// the router and the unembedding are bf16 in every precision; so are activations between operations.
struct Precision {
    double compute = 2;                      ///< activations, other gathered weights (bf16)
    double parameters = 2;                   ///< stored parameters
    double gradients = 2;                    ///< gradients, as stored and as reduced
    double optimizer_moment = 4;             ///< each of Adam's two moments
    MatmulDtype matmul = MatmulDtype::bf16;  ///< all three matmuls of projections, MLPs and experts

    /// An element of a layer's weights, as gathered.
    [[nodiscard]] double weights() const { return matmul == MatmulDtype::bf16 ? compute : 1; }

    /// An element of the parameters that every data way holds under ZeRO-1 and 2; wider master weights are sharded
    /// with the optimizer's state.
    [[nodiscard]] double copy() const { return std::min(compute, parameters); }
};

/// The classes of collectives that `overlap.priority` orders: those on the critical path (tensor, context, expert),
/// weight gathers, gradient reductions.
inline constexpr std::size_t kPriorityClasses = 3;

/// Where the parts of a sequence lie along the context axis: in n contiguous blocks, or in 2 n pieces of which
/// rank r has the r-th and the r-th from the end, so that causal attention is the same work everywhere.
enum class Placement { zig_zag, plain };

struct TrainingPlan {
    std::int64_t tokens = 0;    ///< of the global batch
    std::int64_t sequence = 0;  ///< tokens per sequence
    int data = 1;               ///< ways of replicated data parallelism (AllReduce of gradients)
    int fsdp = 1;               ///< ways of fully-sharded data parallelism (ZeRO-3)
    int context = 1;            ///< ways of context parallelism (sequence sharding, gathered KV)
    int tensor = 1;             ///< ways of tensor parallelism
    /// Ways over the other dimension of weight matrices, D ("2-D weight-stationary"): a chip has a block of
    /// D / tensor_transpose by F / tensor of each, and activations travel over both axes (step_builder_tensor.cpp).
    int tensor_transpose = 1;
    /// Ways of expert parallelism: each chip has 1/expert of every layer's routed experts, and tokens
    /// travel to them. For all other weights, and for the batch, this axis is one more of `fsdp`.
    int expert = 1;
    int pipeline = 1;      ///< stages, each with an equal run of layers (or `chunks` of them)
    int chunks = 1;        ///< of a stage, of the interleaved schedule
    int microbatches = 1;  ///< parts of the batch, one after the other; gradients add up over them
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    /// No embedding, unembedding, loss or optimizer: stages that are alike, as formulas have them.
    bool layers_only = false;
    /// The forward pass and the loss alone: an evaluation step. Nothing is saved, no gradients are made.
    bool forward_only = false;
    double capacity_factor = 1;  ///< tokens that every expert is padded to, over the mean
    double expert_imbalance =
        1;  ///< tokens of the chip with the most loaded experts, over the mean
    /// The same for every rank of `expert`: the tokens of its experts over the mean; they add up to `expert`. Empty: all
    /// alike, as expert_imbalance says.
    std::vector<double> expert_loads{};
    bool causal = true;
    Placement placement = Placement::zig_zag;  ///< of causal attention
    Remat remat = Remat::block;
    RematNames remat_names;  ///< of Remat::named
    Optimizer optimizer = Optimizer::adam;
    Precision precision;
    sim::Bytes vmem =
        sim::Bytes::infinity();  ///< of one core: how many queries attention takes at once
    /// What data parallelism shards (ZeRO): 0 nothing, 1 the optimizer's state, 2 gradients too. (ZeRO-3 is fsdp.)
    /// Gradients are all-reduced (1) or reduce-scattered (2) over data, every way updates its share, and the updated
    /// parameters are gathered, a group at a time behind that group's update.
    int zero = 0;
    /// What of a layer is gathered, and its gradients reduced, in one piece.
    WeightGroups weights = WeightGroups::layer;
    /// Layers are the turns of a loop, and no gather of weights or reduction of gradients runs from one into the next.
    bool layer_loop = false;
    /// Weight gathers may run this many uses ahead; where a layer's weights come in several pieces, parts of a use count.
    double prefetch_layers = 1;
    /// The tensor collectives in front of and behind matmuls as ring steps between parts of the matmul (the
    /// "collective matmul"); nothing: they block.
    std::optional<collectives::SteppedGather> tensor_steps{};
    /// Ring attention: keys and values go round the context ring, one way, under the attention to the block
    /// before; nothing: they are gathered first.
    std::optional<collectives::SteppedGather> context_steps{};
    int reductions_in_flight =
        2;  ///< gradient reductions that may be pending behind the backward pass
    /// Gradients are reduced in buckets of so many bytes (of the arrays that a chip holds), which may hold several
    /// groups' gradients or a part of one's; infinity: each group on its own.
    sim::Bytes bucket = sim::Bytes::infinity();
    /// Collectives of all kinds that may run at once: the i-th in program order waits for the one so many before;
    /// 0: no limit, 1: one after the other.
    int collectives_in_flight = 0;
    /// Which goes first at a link: the place of each class, in the order of kPriorityClasses.
    std::array<std::uint32_t, kPriorityClasses> priority{0, 1, 2};

    /// T: chips that share out each weight matrix and its work.
    [[nodiscard]] int tensor_ways() const { return tensor * tensor_transpose; }
};

/// Chips that the plan uses.
inline double chips(const TrainingPlan& plan) {
    return static_cast<double>(plan.data) * plan.fsdp * plan.context * plan.tensor_ways() *
           plan.expert * plan.pipeline;
}

/// What the plan makes of the batch on one chip.
struct Occupancy {
    std::int64_t sequences = 0;            ///< of the global batch: tokens / sequence
    std::int64_t shards = 1;               ///< data x fsdp x expert x microbatches
    std::int64_t sequences_per_shard = 0;  ///< ceil(sequences / shards), of one microbatch
    double occupied = 1;                   ///< sequences / (sequences_per_shard x shards)
    double tokens_per_chip_group =
        0;  ///< t = sequences_per_shard x sequence / context: tokens of one tensor group
};
Occupancy occupancy(const TrainingPlan& plan);

/// `block`, or what the scenario says: `{save: [qkv_proj], offload: [decoder_layer_input]}`.
std::string remat_text(const TrainingPlan& plan);

/// What of a layer stays for the backward pass (its input in any case), in HBM or at the host.
TensorSet kept_tensors(const TrainingPlan& plan);

/// Checks the plan against the model: tokens is a multiple of sequence, tensor divides N, K (or the
/// columns K H), F, the experts' F, the latents and V (with tensor_transpose their product), tensor_transpose D, expert
/// divides the routed experts, sequence splits into 2 x context zig-zag pieces (causal, unless plain) and context x
/// tensor equal parts,
/// ... Throws sim::InputError naming the offending setting, what is allowed, and the nearest values
/// that work.
void validate(const TrainingPlan& plan, const ModelSpec& model);

/// Whether ranks of the context axis do unequal work: causal attention on contiguous blocks, or in a ring to a window.
bool uneven_context(const TrainingPlan& plan, const ModelSpec& model);
/// Whether ranks of the expert axis do: their experts take unequal numbers of tokens.
bool uneven_experts(const TrainingPlan& plan);

/// A chip's ranks along the axes whose members do unequal work.
struct Ranks {
    int stage = 0;
    int context = 0;
    int expert = 0;
};

/// Builds the step of one chip. `plan` has been validated.
StepProgram build_step(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks = {});
/// Of every stage and of every member of an axis of unequal work.
StepPrograms build_stages(const ModelSpec& model, const TrainingPlan& plan);

/// The peak of the chip that needs most, in program order.
sim::Bytes peak_of_stages(const ModelSpec& model, const TrainingPlan& plan);

/// The largest prefetch (at most plan.prefetch_layers, at least 0) for which the program's memory
/// in program order stays within `capacity`; 0 when none does. Decided before the run. In steps of a layer, or of a
/// quarter where a layer's weights come in several pieces.
double prefetch_that_fits(const ModelSpec& model, const TrainingPlan& plan, sim::Bytes capacity);

}  // namespace podsim::workloads
