#include "workloads/work/shard.h"

#include <algorithm>
#include <cmath>

#include "workloads/models/model.h"
#include "workloads/plan/axes.h"
#include "workloads/plan/cache_layout.h"
#include "workloads/plan/plan.h"
#include "workloads/work/placed_runs.h"
#include "workloads/work/served_tiles.h"

namespace podsim::workloads {
namespace {

/// Takes the chip's fraction of the batch and of each sequence.
void take_batch(Shard& shard, const TrainingPlan& plan, const Ranks& ranks) {
    const Occupancy batch = occupancy(plan.batch, plan.ways);
    shard.tokens = batch.tokens_per_chip_group;
    shard.rows = shard.tokens / plan.ways.of_matrix();
    shard.sequences = static_cast<double>(batch.sequences_per_shard);
    shard.sequence = static_cast<double>(plan.batch.sequence);
    shard.context = plan.ways.context;
    shard.causal = plan.attention.causal;
    shard.plain = plan.attention.causal && plan.ways.context > 1 &&
                  plan.attention.placement == Placement::plain;
    shard.rank = ranks.context;
    shard.vmem = plan.attention.vmem.value();
    shard.cores = plan.attention.cores;
    shard.attention_backward = plan.attention.backward;
    shard.attention_blocks = plan.attention.blocks;
    shard.known_max_logit = plan.attention.known_max_logit;
    shard.score_bytes = plan.attention.scores;
    shard.scores_again = plan.attention.scores > 0 && plan.remat.policy == RematPolicy::named &&
                         kept_tensors(plan.remat).has(LayerTensor::attended);
}

/// Takes the sizes of the model, divided over all ways that `split` its matrices.
void take_sizes(Shard& shard, const ModelSpec& model, const AttentionSizes& sizes, int split) {
    const double ways = split;
    shard.d_model = static_cast<double>(model.d_model);
    shard.d_ff = static_cast<double>(model.d_ff) / ways;
    shard.branches = model.gated_mlp ? 2 : 1;
    shard.heads = static_cast<double>(model.heads) / ways;
    shard.kv_heads = static_cast<double>(sizes.kv_heads) / ways;
    shard.all_kv_heads = static_cast<double>(sizes.kv_heads);
    shard.kv_split_by_columns = sizes.kv_heads % split != 0;
    shard.head_dim = static_cast<double>(sizes.head_dim);
    shard.value_dim = static_cast<double>(sizes.value_dim);
    shard.shared_kv = sizes.shared_kv;
    shard.v_norm = model.v_norm;
    shard.vocabulary = static_cast<double>(model.vocabulary) / ways;
    shard.window = shard.score_bytes > 0 ? 0 : static_cast<double>(model.window);
    shard.parallel_block = model.parallel_block;
    shard.rotary = model.positions == 0;
    shard.positions = model.positions > 0;
    shard.layer_norm = model.norm != Norm::rms;
    shard.qk_norm = model.qk_norm;
    shard.mlp_bias = model.mlp_bias;
    shard.outputs_normed = norms_outputs(model);
    shard.read_backward = read_backward(model, {.experts = false});
    shard.read_backward_of_experts = read_backward(model, {.experts = true});
    shard.norms_of_block = static_cast<double>(model.norms) / (model.parallel_block ? 1 : 2);
}

/// Takes the work that the backward pass repeats inside of operations, because only
/// their outputs are kept.
void take_remat(Shard& shard, const ModelSpec& model, const Remat& remat) {
    if (remat.policy != RematPolicy::matmuls && remat.policy != RematPolicy::named) {
        return;
    }
    const TensorSet kept = kept_tensors(remat);
    const bool gate_up = kept.has(LayerTensor::gate_up);
    // In a parallel block either matmul brings the norm.
    shard.attention_norms_again = kept.has(LayerTensor::qkv) && (gate_up || !model.parallel_block);
    shard.mlp_norms_again = gate_up;
    shard.activations_again = !kept.has(LayerTensor::hidden);
}

Shard::Latent latent_of(const Shard& shard, const LatentAttention& model, const Ways& ways) {
    Shard::Latent latent;
    latent.ways = ways.of_matrix();
    latent.q_rank = static_cast<double>(model.q_rank);
    latent.kv_rank = static_cast<double>(model.kv_rank);
    latent.rope_dim = static_cast<double>(model.rope_dim);
    latent.width = latent.q_rank + latent.kv_rank + latent.rope_dim;
    latent.direct = model.q_rank > 0 ? 0 : shard.heads * shard.head_dim;
    return latent;
}

/// Returns the experts of the shard. `held`: bytes of an element as it is stored.
Shard::Experts experts_of(const Shard& shard, const Experts& model, const TrainingPlan& plan,
                          int rank, double held) {
    Shard::Experts experts;
    experts.path = plan.moe;
    experts.routed = static_cast<double>(model.count);
    experts.shared_gate = model.shared_gate;
    const double splits = plan.moe.whole ? plan.ways.of_matrix() : 1;
    experts.held = experts.routed / (plan.ways.expert * splits);
    experts.per_token = static_cast<double>(model.per_token);
    double load =
        plan.experts.capacity_factor * (plan.ways.expert > 1 ? plan.experts.imbalance : 1);
    if (plan.moe.dense()) {
        const double mean = std::ceil(shard.sequence * experts.per_token / experts.routed);
        experts.capacity = std::floor(mean * plan.experts.capacity_factor);
        load = experts.capacity * experts.routed / (shard.sequence * experts.per_token);
    } else if (plan.moe.of_all()) {
        load = experts.routed / experts.per_token;
    }
    experts.gathered = !axes_with(&PlanAxis::shares_experts, plan.ways).empty();
    experts.quantised = (experts.gathered && plan.precision.quantised_expert_gather) ||
                        (plan.inference && plan.precision.stored_experts() < 2);
    experts.weight_bytes = experts.gathered ? plan.precision.expert_weights()
                           : plan.inference ? plan.precision.stored_experts()
                                            : held;
    experts.copies = shard.tokens * static_cast<double>(model.per_token) * load;
    const double of_rank =
        plan.experts.uneven() ? plan.experts.loads[static_cast<std::size_t>(rank)] : 1;
    experts.tokens = fullest_of(splits, experts.copies, 1 / splits) * of_rank;
    experts.reached = experts.held;
    if (plan.inference && experts.tokens > 0 && !plan.moe.of_all()) {
        const double drawn =
            shard.tokens * plan.ways.expert;  // tokens that these experts could meet
        const double chance = experts.copies / splits * of_rank / (drawn * experts.held);
        experts.reached = reached_groups(drawn, chance, experts.held, splits);
    }
    experts.d_ff = static_cast<double>(model.d_ff) * splits / plan.ways.of_matrix();
    experts.shared_width = static_cast<double>(model.shared_columns()) / plan.ways.of_matrix();
    return experts;
}

void take_runs(Shard& shard, const ModelSpec& model, const TrainingPlan& plan) {
    const std::vector<PlacedRun> placed = place_runs(model, plan);
    shard.tokens = 0;
    for (std::size_t i = 0; i < placed.size(); ++i) {
        const CachedRun& run = plan.inference->runs[i];
        const auto sequences = static_cast<double>(placed[i].sequences);
        if (sequences == 0) {
            continue;
        }
        const auto fresh = static_cast<double>(run.fresh);
        shard.runs.push_back({sequences, static_cast<double>(placed[i].attended), fresh,
                              static_cast<double>(run.cached), static_cast<double>(run.logits),
                              run.padding});
        shard.tokens += sequences * fresh / plan.ways.context;
    }
}

/// Takes the sizes of inference. Rows are complete on every tensor rank, and ranks beyond the
/// key/value heads repeat those heads.
void take_inference(Shard& shard, const ModelSpec& model, const AttentionSizes& sizes,
                    const TrainingPlan& plan) {
    take_runs(shard, model, plan);
    shard.rows = shard.tokens / plan.ways.tensor_transpose;
    shard.cache = {static_cast<double>(plan.ways.cache), plan.inference->split,
                   plan.inference->cache_element, plan.inference->dense};
    const CacheLayout layout{model.heads, sizes.kv_heads,
                             std::int64_t{plan.ways.tensor} * plan.ways.tensor_transpose,
                             plan.ways.cache, plan.inference->split};
    shard.kv_heads = static_cast<double>(layout.most_heads());
    shard.kv_split_by_columns = false;
    shard.weights_quantised = shard.weights_quantised || plan.precision.parameters < 2;
}

}  // namespace

int Shard::reach() const {
    const double pieces = std::ceil((window - 1) / piece());
    return static_cast<int>(std::min(pieces, context * pieces_of_rank() - 1));
}

Shard make_shard(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks, bool local) {
    const AttentionSizes sizes = attention_sizes(model, {.local = local});
    Shard shard;
    take_batch(shard, plan, ranks);
    take_sizes(shard, model, sizes, plan.ways.of_matrix());
    take_remat(shard, model, plan.remat);
    shard.transposed = plan.ways.tensor_transpose;
    shard.precision = plan.precision;
    // A gather brings weights in the dtype that they are used in; other weights are cast
    // when they are read.
    shard.weights_gathered =
        !axes_with(dense_weights_of(plan.inference.has_value()), plan.ways).empty();
    shard.weights_quantised = shard.weights_gathered && plan.precision.quantised_gather;
    const double held = plan.zero > 0 ? plan.precision.copy() : plan.precision.parameters;
    shard.weight_bytes = shard.weights_gathered ? plan.precision.weights() : held;
    shard.plain_weight_bytes = shard.weights_gathered ? plan.precision.plain_weights() : held;
    if (plan.inference) {
        shard.plain_weight_bytes = plan.precision.stored_tables();
        take_inference(shard, model, sizes, plan);
    }
    if (model.latent.kv_rank > 0) {
        shard.latent = latent_of(shard, model.latent, plan.ways);
    }
    if (model.experts.count > 0) {
        shard.experts = experts_of(shard, model.experts, plan, ranks.expert, held);
    }
    return shard;
}

}  // namespace podsim::workloads
