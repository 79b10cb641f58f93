#include "workloads/work/work.h"

#include "workloads/models/model.h"
#include "workloads/plan/plan.h"
#include "workloads/work/matmul_work.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads {

using namespace vector_unit;

Shard make_shard(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks) {
    const Occupancy batch = occupancy(plan.batch, plan.ways);
    Shard shard;
    shard.tokens = batch.tokens_per_chip_group;
    const double ways = plan.ways.of_matrix();
    shard.transposed = plan.ways.tensor_transpose;
    shard.rows = shard.tokens / ways;
    shard.sequences = static_cast<double>(batch.sequences_per_shard);
    shard.sequence = static_cast<double>(plan.batch.sequence);
    shard.context = plan.ways.context;
    shard.plain = plan.attention.causal && plan.ways.context > 1 &&
                  plan.attention.placement == Placement::plain;
    shard.rank = ranks.context;
    shard.d_model = static_cast<double>(model.d_model);
    shard.d_ff = static_cast<double>(model.d_ff) / ways;
    shard.branches = model.gated_mlp ? 2 : 1;
    shard.heads = static_cast<double>(model.heads) / ways;
    shard.kv_heads = static_cast<double>(model.kv_heads) / ways;
    shard.all_kv_heads = static_cast<double>(model.kv_heads);
    shard.kv_split_by_columns = model.kv_heads % plan.ways.of_matrix() != 0;
    shard.head_dim = static_cast<double>(model.head_dim);
    shard.value_dim = static_cast<double>(value_dim(model));
    shard.vocabulary = static_cast<double>(model.vocabulary) / ways;
    shard.window = static_cast<double>(model.window);
    shard.parallel_block = model.parallel_block;
    shard.causal = plan.attention.causal;
    shard.tied = model.tied_embeddings;
    if (plan.remat.policy == RematPolicy::matmuls || plan.remat.policy == RematPolicy::named) {
        const TensorSet kept = kept_tensors(plan.remat);
        const bool gate_up = kept.has(LayerTensor::gate_up);
        // A parallel block's norm comes with either matmul.
        shard.attention_norms_again =
            kept.has(LayerTensor::qkv) && (gate_up || !model.parallel_block);
        shard.mlp_norms_again = gate_up;
        shard.activations_again = !kept.has(LayerTensor::hidden);
    }
    shard.rotary = model.positions == 0;
    shard.positions = model.positions > 0;
    shard.layer_norm = model.norm == Norm::layer;
    shard.qk_norm = model.qk_norm;
    shard.norms_of_block = static_cast<double>(model.norms) / (model.parallel_block ? 1 : 2);
    shard.vmem = plan.attention.vmem.value();
    shard.precision = plan.precision;
    // A gather brings weights in the dtype that they are used in; others are cast where they are read.
    const bool experts_gathered = plan.ways.fsdp > 1 || plan.ways.context > 1;
    shard.weights_gathered = experts_gathered || plan.ways.expert > 1;
    const double held = plan.zero > 0 ? plan.precision.copy() : plan.precision.parameters;
    shard.weight_bytes = shard.weights_gathered ? plan.precision.weights() : held;
    shard.plain_weight_bytes = shard.weights_gathered ? plan.precision.compute : held;
    if (model.latent.kv_rank > 0) {
        shard.latent.ways = plan.ways.tensor;
        shard.latent.q_rank = static_cast<double>(model.latent.q_rank);
        shard.latent.kv_rank = static_cast<double>(model.latent.kv_rank);
        shard.latent.rope_dim = static_cast<double>(model.latent.rope_dim);
        shard.latent.width = shard.latent.q_rank + shard.latent.kv_rank + shard.latent.rope_dim;
        shard.latent.direct = model.latent.q_rank > 0 ? 0 : shard.heads * shard.head_dim;
    }
    if (model.experts.count > 0) {
        const double load =
            plan.experts.capacity_factor * (plan.ways.expert > 1 ? plan.experts.imbalance : 1);
        shard.experts.routed = static_cast<double>(model.experts.count);
        shard.experts.held = shard.experts.routed / plan.ways.expert;
        shard.experts.per_token = static_cast<double>(model.experts.per_token);
        shard.experts.gathered = experts_gathered;
        shard.experts.weight_bytes = experts_gathered ? plan.precision.weights() : held;
        shard.experts.copies = shard.tokens * static_cast<double>(model.experts.per_token) * load;
        shard.experts.tokens =
            shard.experts.copies * (plan.experts.uneven()
                                        ? plan.experts.loads[static_cast<std::size_t>(ranks.expert)]
                                        : 1);
        shard.experts.d_ff = static_cast<double>(model.experts.d_ff) / ways;
        shard.experts.shared_width = static_cast<double>(model.experts.shared) * shard.experts.d_ff;
    }
    return shard;
}

Compute embedding_lookup(const Shard& s) {
    return only({(s.rows * s.d_model + s.tokens * s.block_rows()) * s.precision.compute,
                 s.positions ? s.tokens * s.block_rows() * kEmbedding : 0});
}

Compute embedding_scatter_add(const Shard& s) {
    const double table = s.tied ? 0 : s.vocabulary * s.d_model * s.precision.gradients;
    return only({s.tokens * s.block_rows() * s.precision.compute +
                     2 * s.rows * s.d_model * s.precision.gradients + table,
                 s.tokens * s.block_rows() * kEmbedding});
}

Compute gate_up_forward(const Shard& s, double width, bool normed) {
    return activations(s, s.block_rows(), s.block_columns(s.branches * width),
                       normed ? norm_and_residual(s) : Elementwise{});
}

Compute down_forward(const Shard& s, double width) {
    return activations(s, s.block_columns(width), s.block_rows(),
                       activation_function(s, s.tokens, width));
}

Compute down_input_gradient(const Shard& s, double width) {
    return activations(s, s.block_rows(), s.block_columns(width),
                       activation_gradient(s, s.tokens, width));
}

Compute down_weight_gradient(const Shard& s, double width) {
    return weight_gradient(s, s.block_columns(width), s.block_rows(),
                           activation_again(s, s.tokens, width));
}

Compute gate_up_input_gradient(const Shard& s, double width, bool normed) {
    return activations(s, s.block_columns(s.branches * width), s.block_rows(),
                       normed ? norm_and_residual_gradient(s) : Elementwise{});
}

Compute gate_up_weight_gradient(const Shard& s, double width, bool normed) {
    return weight_gradient(s, s.block_rows(), s.block_columns(s.branches * width),
                           normed ? normed_again(s, s.mlp_norms_again) : Elementwise{});
}

Compute router_forward(const Shard& s) {
    const Elementwise choice{0, s.rows * s.experts.routed * (kSoftmax + s.experts.per_token)};
    return activations(s, s.rows, s.d_model, s.experts.routed,
                       norm_and_residual(s) + copied_rows(s, 0) + choice, Runs::in_bf16);
}

Compute router_input_gradient(const Shard& s) {
    const Elementwise choice{0, s.rows * s.experts.routed * kRouterBackward};
    return activations(s, s.rows, s.experts.routed, s.d_model,
                       norm_and_residual_gradient(s) + copied_rows(s, 1) + choice, Runs::in_bf16);
}

Compute router_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.rows, s.d_model, s.experts.routed,
                           normed_again(s, s.mlp_norms_again), Runs::in_bf16);
}

Compute experts_gate_up_forward(const Shard& s) {
    return grouped(s, s.d_model, s.branches * s.experts.d_ff);
}

Compute experts_down_forward(const Shard& s) {
    return grouped(s, s.experts.d_ff, s.d_model,
                   activation_function(s, s.experts.tokens, s.experts.d_ff));
}

Compute experts_down_input_gradient(const Shard& s) {
    return grouped(s, s.d_model, s.experts.d_ff,
                   activation_gradient(s, s.experts.tokens, s.experts.d_ff));
}

Compute experts_down_weight_gradient(const Shard& s) {
    return grouped_weight_gradient(s, s.experts.d_ff, s.d_model,
                                   activation_again(s, s.experts.tokens, s.experts.d_ff));
}

Compute experts_gate_up_input_gradient(const Shard& s) {
    return grouped(s, s.branches * s.experts.d_ff, s.d_model);
}

Compute experts_gate_up_weight_gradient(const Shard& s) {
    return grouped_weight_gradient(s, s.d_model, s.branches * s.experts.d_ff);
}

Compute combine_forward(const Shard& s) {
    return only(copied_rows(s, kCombine));
}

Compute combine_gradient(const Shard& s) {
    return only(copied_rows(s, kCombineBackward));
}

Compute logits_forward(const Shard& s) {
    return activations(s, s.block_rows(), s.block_columns(s.vocabulary), final_norm(s),
                       Runs::in_bf16);
}

Compute loss(const Shard& s) {
    return only(
        {2 * s.tokens * s.vocabulary * s.precision.compute, s.tokens * s.vocabulary * kLoss});
}

Compute logits_input_gradient(const Shard& s) {
    return activations(s, s.block_columns(s.vocabulary), s.block_rows(), final_norm_gradient(s),
                       Runs::in_bf16);
}

Compute logits_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.block_rows(), s.block_columns(s.vocabulary), {}, Runs::in_bf16);
}

Compute optimizer_update(double parameters, Optimizer optimizer, const Precision& precision,
                         double copy_bytes) {
    const bool adam = optimizer == Optimizer::adam;
    const double moments = adam ? 4 * precision.optimizer_moment : 0;
    return only(
        {parameters * (2 * precision.parameters + precision.gradients + moments + copy_bytes),
         parameters * (adam ? kAdam : kSgd)});
}

}  // namespace podsim::workloads
