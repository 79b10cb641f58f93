#include "scenarios/maxtext/maxtext_not_modelled.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "scenarios/maxtext/maxtext_defaults.h"
#include "scenarios/maxtext/maxtext_keys.h"

namespace podsim::scenarios {
namespace {

/// With the value that changes nothing, which is MaxText's default.
struct Unlike {
    std::string_view key;
    std::string_view usual;
    const char* why;
};

constexpr const char* kLocal = "local layers have the attention kernel of the others here";

constexpr std::array kUnlike = std::to_array<Unlike>({
    {"dtype", "bfloat16", "podsim computes in bf16, or in what quantization says"},
    {"matmul_precision", "default", "matmuls of bf16 have one pass here"},
    {"activations_in_float32", "false", "activations are bf16 here"},
    {"float32_qk_product", "false", "attention is computed in bf16 here"},
    {"attention_type", "global", "attention is what the model's own block says"},
    {"sliding_window_size", "0", "attention is what the model's own block says"},
    {"chunk_attn_window_size", "0", "attention is what the model's own block says"},
    {"share_kv_projections", "false", "keys and values are what the model's own block says"},
    {"use_dpo", "false", "a second forward pass of a reference model is not modelled"},
    {"enable_diloco", "false", "every step reduces its gradients over all slices here"},
    {"use_multimodal", "false", "encoders are not modelled"},
    {"use_audio", "false", "encoders are not modelled"},
    {"use_indexer", "false", "sparse attention with an index is not modelled"},
    {"optimizer_memory_host_offload", "false", "the optimizer's state stays in HBM here"},
    {"parameter_memory_host_offload", "false", "parameters stay in HBM here"},
    {"use_2d_fsdp_sharding", "false", "weights are split along one dimension here"},
    {"shard_exp_on_fsdp", "false", "weights of experts are split along one dimension here"},
    {"moe_fsdp_use_two_stage_all_gather", "false", "weights are gathered at once here"},
    {"dense_fsdp_use_two_stage_all_gather", "false", "weights are gathered at once here"},
    {"use_ring_of_experts", "false", "tokens go to experts by an AllToAll here"},
    {"num_moe_token_chunks", "1", "tokens of experts are not taken in chunks here"},
    {"num_moe_emb_chunks", "0", "tokens of experts are not taken in chunks here"},
    {"use_batch_split_schedule", "false", "a batch is not split within a layer here"},
    {"optimize_mesh_for_tpu_v6e", "false", "podsim maps as create_device_mesh does"},
    {"custom_mesh_and_rule", "", "arrays are split by MaxText's usual rules here"},
    {"context_parallel_strategy", "all_gather", "keys and values are gathered here"},
    {"context_parallel_load_balance", "true", "sequences are split in zig-zag here"},
    {"pipeline_fsdp_ag_once", "false", "stages gather weights for each microbatch here"},
    {"pipeline_fsdp_ag_per_repeat", "false", "stages gather weights for each microbatch here"},
    {"vocab_tiling_ag_once", "false", "the unembedding is gathered for each chunk here"},
    {"enable_rampup_batch_size", "false", "the batch is that of per_device_batch_size"},
    {"use_iota_embed", "false",
     "the look-up as a matmul of 2 V D FLOPs a token each way: podsim times a look-up"},
    {"use_jax_splash", "false", "JAX's own splash attention: podsim times the kernel of MaxText"},
    {"dq_reduction_steps", "0", "how the fused backward kernel adds up dq is not modelled"},
    {"num_communication_overlapping_steps", "0",
     "every step reduces its gradients over all slices here"},
    {"dropout_rate", "0.0", "dropout is not modelled"},
    {"int8_training", "false", "podsim reads quantization=int8 alone"},
    {"local_sa_block_q", "", kLocal},
    {"local_sa_block_kv", "", kLocal},
    {"local_sa_block_q_dkv", "", kLocal},
    {"local_sa_block_kv_dkv", "", kLocal},
    {"local_sa_block_q_dq", "", kLocal},
    {"local_sa_block_kv_dq", "", kLocal},
    {"local_sa_use_fused_bwd_kernel", "", kLocal},
});

constexpr const char* kUsual = "its usual value";

/// Gemma 4's own config has it, of global layers (configs/models/gemma4-31b.yml).
std::string_view usual_of(const Unlike& each, const MaxTextSettings& settings) {
    const bool own = each.key == "share_kv_projections" && settings.has("model_name") &&
                     settings.said("model_name").starts_with("gemma4") &&
                     settings.overridden(std::string(each.key));
    return own ? "true" : each.usual;
}

/// What is said of local layers and of the others changes nothing, nor does what nothing is said of (types.py: a key of local layers is
/// that of the others unless set).
bool is_usual(const Unlike& each, const MaxTextSettings& settings) {
    const std::string said = settings.said(std::string(each.key));
    if (says_the_same(said, usual_of(each, settings)) || says_the_same(said, "")) {
        return true;
    }
    constexpr std::string_view kOfLocal = "local_";
    const std::string others(each.key.substr(each.key.starts_with(kOfLocal) ? kOfLocal.size() : 0));
    return others != each.key && settings.has(others) && says_the_same(said, settings.said(others));
}

}  // namespace

bool is_not_modelled(const std::string& key) {
    return std::ranges::count(kUnlike, key, &Unlike::key) > 0;
}

void maxtext_not_modelled(MaxTextSettings& settings) {
    for (const Unlike& each : kUnlike) {
        const std::string key(each.key);
        if (!settings.has(key)) {
            continue;
        }
        if (is_usual(each, settings)) {
            settings.pass_over(key, kUsual);
        } else {
            settings.cannot(key, std::string(each.why));
        }
    }
    for (const MaxTextSettings::Line& line : settings.ignored()) {
        if (!line.own || !line.why.empty()) {
            continue;
        }
        const auto usual = maxtext_default(line.key);
        if (is_read(line.key)) {
            settings.pass_over(line.key, "nothing goes by it beside what the other keys say");
        } else if (usual && says_the_same(line.value, *usual)) {
            settings.pass_over(line.key, kUsual);
        } else {
            settings.cannot(line.key, "podsim does not know what it does");
        }
    }
}

}  // namespace podsim::scenarios
