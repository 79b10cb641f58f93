// Families with routed experts.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "workloads/models/hf_families.h"
#include "workloads/models/hf_parts.h"

namespace podsim::workloads {
namespace {

/// The width of a layer's experts is intermediate_size itself.
void read_mixtral(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    read_window(config, model);
    read_routing(config, model, "num_local_experts");
    model.experts.d_ff = model.d_ff;
}

/// Queries and keys are normed head by head. Unlike qwen3's, the class has no head_dim of its own,
/// and divides the width.
void read_qwen3_moe(HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    read_head_dim(config, model);
    refuse_partial_window(config);
    read_tied(config, model);
    read_attention_bias(config, model);
    model.qk_norm = true;
    read_sparse_step(config, model);
    // transformers 5 writes the name that other families have.
    read_routing(config, model,
                 config.find("num_local_experts") != nullptr ? "num_local_experts" : "num_experts");
    model.experts.d_ff = config.required("moe_intermediate_size", ModelLimits::d_ff);
}

/// One shared expert of a width of its own, behind a gate.
void read_qwen2_moe(HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    read_head_dim(config, model);
    refuse_partial_window(config);
    read_tied(config, model);
    model.qkv_bias = config.flag("qkv_bias", true);
    read_sparse_step(config, model);
    read_routing(config, model, "num_experts");
    model.experts.d_ff = config.required("moe_intermediate_size", ModelLimits::d_ff);
    model.experts.shared = 1;
    model.experts.shared_d_ff =
        config.required("shared_expert_intermediate_size", ModelLimits::d_ff);
    model.experts.shared_gate = true;
}

/// Experts after `first_k_dense_replace` dense layers.
void read_experts_behind(HfConfig& config, ModelSpec& model) {
    read_routing(config, model, "n_routed_experts");
    model.experts.shared = config.whole("n_shared_experts", ModelLimits::experts, 0).value_or(0);
    model.experts.d_ff = config.required("moe_intermediate_size", ModelLimits::d_ff);
    model.experts.first_dense = config.whole("first_k_dense_replace", model.layers, 0).value_or(0);
}

void refuse_other_layer_freq(HfConfig& config) {
    if (config.whole("moe_layer_freq", ModelLimits::layers).value_or(1) != 1) {
        config.refuse("moe_layer_freq", "'moe_layer_freq' other than 1 is not modelled",
                      "layers behind first_k_dense_replace all have experts");
    }
}

/// The first of the DeepSeeks: a llama with experts.
void read_deepseek_moe(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    read_attention_bias(config, model);
    refuse_other_layer_freq(config);
    read_experts_behind(config, model);
}

/// The multi-token prediction module (num_nextn_predict_layers) is not a layer of the model.
void read_deepseek(HfConfig& config, ModelSpec& model) {
    read_shape(config, model, false);
    model.latent.q_rank = config.whole("q_lora_rank", ModelLimits::d_model).value_or(0);
    model.latent.kv_rank = config.required("kv_lora_rank", ModelLimits::d_model);
    model.latent.rope_dim = config.required("qk_rope_head_dim", ModelLimits::head_dim);
    model.latent.value_dim = config.required("v_head_dim", ModelLimits::head_dim);
    model.head_dim =
        config.required("qk_nope_head_dim", ModelLimits::head_dim) + model.latent.rope_dim;
    read_tied(config, model);
    if (config.flag("attention_bias")) {
        config.refuse("attention_bias",
                      "biases of latent attention ('attention_bias': true) are not "
                      "modelled");
    }
    refuse_other_layer_freq(config);
    read_experts_behind(config, model);
}

void read_deepseek_v3(HfConfig& config, ModelSpec& model) {
    read_deepseek(config, model);
    model.experts.router_bias = true;
}

/// One dense layer unless the file says otherwise: transformers 5 writes `mlp_layer_types`, earlier
/// files have `first_k_dense_replace`.
void read_glm4_moe_lite(HfConfig& config, ModelSpec& model) {
    read_deepseek_v3(config, model);
    if (config.find("first_k_dense_replace") == nullptr) {
        model.experts.first_dense = 1;
    }
    const nlohmann::json* const types = config.find("mlp_layer_types");
    if (types == nullptr) {
        return;
    }
    std::int64_t dense = 0;
    std::int64_t sparse = 0;
    for (const nlohmann::json& type : *types) {
        // Dense layers after others count as neither.
        dense += type == "dense" && sparse == 0 ? 1 : 0;
        sparse += type == "sparse" ? 1 : 0;
    }
    if (dense + sparse != model.layers || types->size() != static_cast<std::size_t>(model.layers)) {
        config.refuse("mlp_layer_types",
                      fmt::format("'mlp_layer_types' is not dense layers and then sparse ones, {} "
                                  "in all",
                                  model.layers),
                      "dense layers among those with experts are not modelled");
    }
    model.experts.first_dense = dense;
}

void read_glm4_moe(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    model.qkv_bias = config.flag("attention_bias");
    model.qk_norm = config.flag("use_qk_norm");
    read_experts_behind(config, model);
    model.experts.router_bias = true;
}

void read_dots1(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    read_attention_bias(config, model);
    model.qk_norm = true;
    read_experts_behind(config, model);
    model.experts.router_bias = true;
}

/// Biases everywhere, also in every expert. Each head has a learned logit, to which a query may
/// attend instead of a key.
void read_gpt_oss(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    read_attention_bias(config, model, true);
    read_windows(config, model, 128, 2);
    model.mlp_bias = model.sinks = true;
    read_routing(config, model, "num_local_experts");
    model.experts.d_ff = model.d_ff;
    model.experts.router_bias = true;
    config.note("the sinks' logits and the biases' additions are parameters that take no time");
}

/// A list of the layers with experts takes precedence over their step.
void read_moe_layers(HfConfig& config, ModelSpec& model) {
    const nlohmann::json* const said = config.find("moe_layers");
    if (said == nullptr) {
        return;
    }
    const bool starts = said->is_array() && !said->empty() && said->front().is_number_integer() &&
                        said->front() >= 0 && said->front() < model.layers;
    const std::int64_t every = starts ? said->front().get<std::int64_t>() + 1 : 1;
    nlohmann::json alike = nlohmann::json::array();
    for (std::int64_t layer = every - 1; layer < model.layers; layer += every) {
        alike.push_back(layer);
    }
    if (*said != alike) {
        config.refuse("moe_layers", "'moe_layers' is not the last of every so many layers",
                      "other patterns are not modelled");
    }
    model.experts.every = every;
}

/// Experts in the last layer of every period, beside one that every token takes; attention in
/// chunks.
void read_llama4(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    read_attention_bias(config, model);
    read_routing(config, model, "num_local_experts");
    model.experts.d_ff = model.d_ff;
    model.experts.shared = 1;
    model.experts.every = config.whole("interleave_moe_layer_step", model.layers).value_or(1);
    read_moe_layers(config, model);
    model.d_ff = config.required("intermediate_size_mlp", ModelLimits::d_ff);
    model.chunk = config.whole("attention_chunk_size", 1LL << 40).value_or(8192);
    config.note(
        "sequences of at most attention_chunk_size tokens, within which chunked attention "
        "is full attention");
    config.note("norms of queries and keys, which have no parameters, take no time");
}

void read_olmoe(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    read_attention_bias(config, model);
    model.qk_norm = model.qk_norm_of_heads = true;
    read_routing(config, model, "num_experts");
    model.experts.d_ff = model.d_ff;
}

void read_granitemoe(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    read_attention_bias(config, model);
    read_routing(config, model, "num_local_experts");
    model.experts.d_ff = model.d_ff;
}

/// One shared expert of a width of its own.
void read_granitemoeshared(HfConfig& config, ModelSpec& model) {
    read_granitemoe(config, model);
    model.experts.shared_d_ff =
        config.whole("shared_intermediate_size", ModelLimits::d_ff, 0).value_or(0);
    model.experts.shared = model.experts.shared_d_ff > 0 ? 1 : 0;
}

/// Layers of attention alone; without routed experts the shared one is a dense MLP.
void read_granitemoehybrid(HfConfig& config, ModelSpec& model) {
    const nlohmann::json* const types = config.find("layer_types");
    const auto attends = [](const nlohmann::json& type) { return type == "attention"; };
    if (types == nullptr || !types->is_array() || !std::ranges::all_of(*types, attends)) {
        config.refuse("layer_types", "state-space layers ('layer_types': mamba) are not modelled",
                      "podsim knows layers of attention alone");
    }
    if (config.whole("num_local_experts", ModelLimits::experts, 0) != 0) {
        read_granitemoeshared(config, model);
        return;
    }
    read_llama(config, model);
    model.d_ff = config.required("shared_intermediate_size", ModelLimits::d_ff);
}

void read_phimoe(HfConfig& config, ModelSpec& model) {
    read_mixtral(config, model);
    read_attention_bias(config, model);
    model.norm = Norm::layer;
    model.unembedding_bias = config.flag("lm_head_bias");
}

void read_minimax_m2(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    model.qk_norm = model.qk_norm_of_heads = config.flag("use_qk_norm", true);
    read_routing(config, model, "num_local_experts");
    model.experts.d_ff = model.d_ff;
    model.experts.router_bias = config.flag("use_routing_bias", true);
}

void read_ernie_moe(HfConfig& config, ModelSpec& model) {
    read_body(config, model, true);
    model.qkv_bias = model.out_bias = config.flag("use_bias");
    read_routing(config, model, "moe_num_experts", "moe_k");
    model.experts.d_ff = config.required("moe_intermediate_size", ModelLimits::d_ff);
    model.experts.shared =
        config.whole("moe_num_shared_experts", ModelLimits::experts, 0).value_or(0);
    model.experts.first_dense = config.whole("moe_layer_start_index", model.layers, 0).value_or(0);
    const auto end = config.whole("moe_layer_end_index", model.layers - 1, -1);
    if (end && *end != -1 && *end != model.layers - 1) {
        config.refuse("moe_layer_end_index", "dense layers behind those with experts",
                      "podsim knows them before those with experts alone");
    }
    if (config.whole("moe_layer_interval", ModelLimits::layers).value_or(1) != 1) {
        config.refuse("moe_layer_interval", "'moe_layer_interval' other than 1 is not modelled");
    }
    model.experts.router_bias = config.flag("moe_use_aux_free", true);
}

/// Every expert is as wide as intermediate_size; values that may differ by layer are in lists.
void read_hunyuan_moe(HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    if (const auto head_dim = config.whole("attention_head_dim", ModelLimits::head_dim)) {
        config.assume("head_dim", *head_dim);
    }
    read_head_dim(config, model);
    read_tied(config, model);
    read_attention_bias(config, model);
    refuse_set(config, "use_cla", "keys and values that layers share");
    refuse_set(config, "mlp_bias", "biases of experts");
    model.qk_norm = config.flag("use_qk_norm", true);
    const auto of_layers = [&](const char* key, std::int64_t limit, std::int64_t fallback) {
        return same_in_layers(config, key, limit).value_or(fallback);
    };
    model.experts.d_ff = of_layers("moe_intermediate_size", ModelLimits::d_ff, model.d_ff);
    if (model.experts.d_ff != model.d_ff) {
        config.refuse("moe_intermediate_size",
                      fmt::format("'moe_intermediate_size' = {} is not 'intermediate_size' = {}",
                                  model.experts.d_ff, model.d_ff),
                      "transformers takes intermediate_size for every expert");
    }
    model.experts.count = of_layers("num_experts", ModelLimits::experts, 1);
    model.experts.per_token = of_layers("moe_topk", model.experts.count, 1);
    model.experts.shared = of_layers("num_shared_expert", ModelLimits::experts, 1);
}

/// Hunyuan 3: grouped queries with norms, and experts as in DeepSeek-V3.
void read_hy_v3(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    model.qk_norm = config.flag("qk_norm", true);
    read_routing(config, model, "num_experts");
    model.experts.d_ff = config.required("moe_intermediate_size", ModelLimits::d_ff);
    model.experts.shared = config.whole("num_shared_experts", ModelLimits::experts, 0).value_or(0);
    model.experts.first_dense = config.whole("first_k_dense_replace", model.layers, 0).value_or(0);
    model.experts.router_bias = config.flag("moe_router_enable_expert_bias");
}

constexpr std::array kExpertFamilies = std::to_array<HfFamily>({
    {"mixtral", read_mixtral},
    {"qwen2_moe", read_qwen2_moe},
    {"qwen3_moe", read_qwen3_moe},
    {"deepseek", read_deepseek_moe},
    {"deepseek_v2", read_deepseek},
    {"deepseek_v3", read_deepseek_v3},
    {"kimi_k2", read_deepseek_v3},
    {"glm4_moe", read_glm4_moe},
    {"glm4_moe_lite", read_glm4_moe_lite},
    {"gpt_oss", read_gpt_oss},
    {"llama4_text", read_llama4},
    {"olmoe", read_olmoe},
    {"granitemoe", read_granitemoe},
    {"granitemoeshared", read_granitemoeshared},
    {"granitemoehybrid", read_granitemoehybrid},
    {"phimoe", read_phimoe},
    {"minimax_m2", read_minimax_m2},
    {"ernie4_5_moe", read_ernie_moe},
    {"dots1", read_dots1},
    {"hunyuan_v1_moe", read_hunyuan_moe},
    {"hy_v3", read_hy_v3},
});

}  // namespace

std::span<const HfFamily> expert_families() {
    return kExpertFamilies;
}

}  // namespace podsim::workloads
