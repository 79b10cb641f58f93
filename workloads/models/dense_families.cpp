// Families with gated MLPs (and arcee and apertus, llamas with plain ones).
#include <array>
#include <fmt/format.h>

#include "workloads/models/hf_families.h"
#include "workloads/models/hf_parts.h"

namespace podsim::workloads {
namespace {

constexpr const char* kOutputNorms =
    "norms of what attention and MLP put out are timed as norms of what they read";

void read_mistral(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    read_window(config, model);
}

/// Ministral 8B: the first of every four layers sees all.
void read_ministral(HfConfig& config, ModelSpec& model) {
    read_mistral(config, model);
    read_first_full(config, model);
}

void read_qwen2(HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    read_head_dim(config, model);
    refuse_partial_window(config);
    read_tied(config, model);
    model.qkv_bias = true;
}

void read_qwen3(HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    read_head_dim_of_class(config, model, 128);
    refuse_partial_window(config);
    read_tied(config, model);
    read_attention_bias(config, model);
    model.qk_norm = true;
}

void read_gemma(HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    read_head_dim_of_class(config, model, 256);
    read_tied(config, model, true);
    read_attention_bias(config, model);
}

/// All but the last of every `global_every` layers have windows; outputs of the blocks are normed
/// too.
void read_gemma_with_windows(HfConfig& config, ModelSpec& model, std::int64_t global_every) {
    read_gemma(config, model);
    model.norms = 4;
    read_windows(config, model, 4096, window_pattern(config, global_every));
}

void read_gemma2(HfConfig& config, ModelSpec& model) {
    read_gemma_with_windows(config, model, 2);
}

/// The text models of the multimodal ones leave out the defaults of the class.
void read_gemma3(HfConfig& config, ModelSpec& model) {
    if (config.nested()) {
        config.assume_default("num_attention_heads", 8);
        config.assume_default("vocab_size", 262208);
    }
    read_gemma_with_windows(config, model, 6);
    model.qk_norm = true;
}

/// Global layers are those of `layer_types`, or else the last of every six. Newer files state the
/// sizes of global layers layer by layer, in place of the two keys.
GlobalAttention sizes_by_layer(HfConfig& config, const ModelSpec& model) {
    const nlohmann::json& layers = *config.find("per_layer_config");
    const auto whole = [](const nlohmann::json& sizes, const char* key, std::int64_t otherwise) {
        const auto found = sizes.find(key);
        return found == sizes.end()         ? otherwise
               : found->is_number_integer() ? found->get<std::int64_t>()
                                            : -1;  // out of every range
    };
    const auto sizes_of = [&](const nlohmann::json& sizes) {
        return GlobalAttention{whole(sizes, "num_key_value_heads", model.kv_heads),
                               whole(sizes, "head_dim", model.head_dim)};
    };
    bool agrees = layers.is_object() && !layers.empty();
    for (std::int64_t layer = 0; layer < model.layers && agrees; ++layer) {
        const auto found = layers.find(std::to_string(layer));
        const bool local = layer_kind(model, layer).local;
        agrees = local == (found == layers.end()) &&
                 (local || sizes_of(*found) == sizes_of(*layers.begin()));
    }
    if (!agrees) {
        config.refuse("per_layer_config",
                      "'per_layer_config' is not the same sizes of all global layers",
                      "other sizes by layer are not modelled");
    }
    return sizes_of(*layers.begin());
}

/// Global layers have sizes of their own, and their own key and value heads if values are keys.
/// Experts are beside the dense MLP.
void read_gemma4(HfConfig& config, ModelSpec& model) {
    for (const auto& [key, what] :
         {std::pair{"hidden_size_per_layer_input", "embeddings of every layer"},
          std::pair{"num_kv_shared_layers", "layers with the keys and values of others"}}) {
        if (config.whole(key, ModelLimits::d_model, 0).value_or(0) > 0) {
            config.refuse(key, fmt::format("{} ('{}') are not modelled", what, key));
        }
    }
    read_gemma_with_windows(config, model, 6);
    if (config.find("layer_types") == nullptr && model.layers % model.global_every != 0) {
        config.refuse("num_hidden_layers",
                      "without 'layer_types' the last layer sees all, which is none of every six");
    }
    if (const auto* seen = config.find("use_bidirectional_attention"); seen && *seen == "all") {
        config.refuse("use_bidirectional_attention", "attention to later tokens is not modelled");
    }
    model.qk_norm = model.v_norm = true;
    const bool shared = config.flag("attention_k_eq_v");
    if (config.find("per_layer_config") == nullptr) {
        config.assume_default("global_head_dim", 512);
    }
    const auto kv_heads = config.whole("num_global_key_value_heads", model.heads);
    model.global = {
        .kv_heads = shared ? kv_heads.value_or(0) : 0,
        .head_dim = config.whole("global_head_dim", ModelLimits::head_dim).value_or(512),
        .shared_kv = false};
    if (config.find("per_layer_config") != nullptr) {
        model.global = sizes_by_layer(config, model);
    }
    model.global.shared_kv = shared;
    if (config.flag("enable_moe_block")) {
        read_routing(config, model, "num_experts", "top_k_experts");
        model.experts.d_ff = config.required("moe_intermediate_size", ModelLimits::d_ff);
        model.experts.shared = 1;
        model.experts.shared_d_ff = model.d_ff;
        config.note("three norms of a layer with experts, and scales of its router, are left out");
    }
}

/// Norms without parameters.
void read_olmo(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    read_attention_bias(config, model);
    model.norm = Norm::bare;
}

void read_olmo2(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    read_attention_bias(config, model);
    model.qk_norm = model.qk_norm_of_heads = true;
    config.note(kOutputNorms);
}

void read_olmo3(HfConfig& config, ModelSpec& model) {
    read_olmo2(config, model);
    read_layer_types(config, model, 4);
}

/// One norm without bias for attention and MLP, whose outputs are added together.
void read_cohere(HfConfig& config, ModelSpec& model) {
    read_body(config, model, true);
    read_attention_bias(config, model);
    model.parallel_block = true;
    model.norms = 1;
    model.qk_norm = model.qk_norm_of_heads = config.flag("use_qk_norm");
    config.note("layer norms without bias are timed as rms norms");
}

void read_cohere2(HfConfig& config, ModelSpec& model) {
    read_cohere(config, model);
    read_windows(config, model, 4096, window_pattern(config, 4));
}

void read_glm(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    model.qkv_bias = config.flag("attention_bias", true);
}

void read_glm4(HfConfig& config, ModelSpec& model) {
    read_glm(config, model);
    model.norms = 4;
}

/// The keys of its own repository's class.
void read_exaone(HfConfig& config, ModelSpec& model) {
    model.layers = config.required("num_layers", ModelLimits::layers);
    model.d_model = config.required("hidden_size", ModelLimits::d_model);
    model.d_ff = config.required("intermediate_size", ModelLimits::d_ff);
    model.heads = config.required("num_attention_heads", ModelLimits::heads);
    model.kv_heads = config.whole("num_key_value_heads", model.heads).value_or(model.heads);
    model.vocabulary = config.required("vocab_size", ModelLimits::vocabulary);
    read_head_dim(config, model);
    read_tied(config, model);
}

void read_exaone4(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    model.qk_norm = true;
    read_layer_types(config, model,
                     config.find("layer_types") == nullptr ? window_pattern(config, 4) : 0);
    config.note(kOutputNorms);
}

void read_internlm2(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    model.qkv_bias = model.out_bias = config.flag("bias");
}

void read_internlm3(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    model.out_bias = model.mlp_bias = config.flag("bias");
    model.qkv_bias = config.flag("qkv_bias");
}

void read_smollm3(HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    read_head_dim(config, model);
    refuse_partial_window(config);
    read_tied(config, model, true);
    read_attention_bias(config, model);
    model.mlp_bias = config.flag("mlp_bias");
    config.note("layers without rotary positions (no_rope_layers) are timed with them");
}

void read_ernie(HfConfig& config, ModelSpec& model) {
    read_body(config, model, true);
    model.qkv_bias = model.out_bias = model.mlp_bias = config.flag("use_bias");
}

void read_seed_oss(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    model.qkv_bias = config.flag("attention_bias", true);
    model.out_bias = config.flag("attention_out_bias");
    model.mlp_bias = config.flag("mlp_bias");
}

void read_hunyuan(HfConfig& config, ModelSpec& model) {
    read_llama(config, model);
    model.qk_norm = true;
}

void read_arcee(HfConfig& config, ModelSpec& model) {
    read_llama(config, model);
    model.gated_mlp = false;
}

void read_apertus(HfConfig& config, ModelSpec& model) {
    read_arcee(config, model);
    model.qk_norm = true;
}

/// Scaled embeddings and branches, which take no time of their own.
void read_minicpm(HfConfig& config, ModelSpec& model) {
    read_body(config, model, true);
    read_attention_bias(config, model);
}

/// Latent attention; values are as wide as a head of hidden_size would be.
void read_minicpm3(HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    model.kv_heads = model.heads;
    read_head_dim(config, model);
    model.latent.q_rank = config.whole("q_lora_rank", ModelLimits::d_model).value_or(0);
    model.latent.kv_rank = config.required("kv_lora_rank", ModelLimits::d_model);
    model.latent.rope_dim = config.required("qk_rope_head_dim", ModelLimits::head_dim);
    model.latent.value_dim =
        config.whole("v_head_dim", ModelLimits::head_dim).value_or(model.head_dim);
    model.head_dim =
        config.required("qk_nope_head_dim", ModelLimits::head_dim) + model.latent.rope_dim;
    read_tied(config, model, true);
    refuse_set(config, "attention_bias", "biases of latent attention");
}

constexpr std::array kDenseFamilies = std::to_array<HfFamily>({
    {"llama", read_llama},         {"mistral", read_mistral},
    {"ministral", read_ministral}, {"gemma", read_gemma},
    {"gemma2", read_gemma2},       {"gemma3_text", read_gemma3},
    {"gemma4_text", read_gemma4},  {"qwen2", read_qwen2},
    {"qwen3", read_qwen3},         {"phi3", read_mistral},
    {"olmo", read_olmo},           {"olmo2", read_olmo2},
    {"olmo3", read_olmo3},         {"cohere", read_cohere},
    {"cohere2", read_cohere2},     {"glm", read_glm},
    {"glm4", read_glm4},           {"granite", read_llama},
    {"exaone", read_exaone},       {"exaone4", read_exaone4},
    {"internlm2", read_internlm2}, {"internlm3", read_internlm3},
    {"smollm3", read_smollm3},     {"ernie4_5", read_ernie},
    {"seed_oss", read_seed_oss},   {"hunyuan_v1_dense", read_hunyuan},
    {"arcee", read_arcee},         {"apertus", read_apertus},
    {"minicpm", read_minicpm},     {"minicpm3", read_minicpm3},
});

}  // namespace

std::span<const HfFamily> dense_families() {
    return kDenseFamilies;
}

}  // namespace podsim::workloads
