// Hugging Face `config.json` to ModelSpec, family by family: strict about everything that changes the
// shapes. Keys and defaults are those of the classes in huggingface.co's transformers library.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "workloads/models/hf_json.h"
#include "workloads/models/model.h"

namespace podsim::workloads {
namespace {

constexpr std::size_t kLongestName = 100;  // longer ones are not compared with ours

/// The keys that are read: none of them is a slip of another.
constexpr std::array<std::string_view, 36> kKeys{"model_type",
                                                 "hidden_size",
                                                 "intermediate_size",
                                                 "num_hidden_layers",
                                                 "num_attention_heads",
                                                 "num_key_value_heads",
                                                 "vocab_size",
                                                 "tie_word_embeddings",
                                                 "head_dim",
                                                 "sliding_window",
                                                 "num_local_experts",
                                                 "num_experts",
                                                 "n_routed_experts",
                                                 "attention_bias",
                                                 "mlp_bias",
                                                 "num_experts_per_tok",
                                                 "sliding_window_pattern",
                                                 "layer_types",
                                                 "use_sliding_window",
                                                 "q_lora_rank",
                                                 "kv_lora_rank",
                                                 "qk_nope_head_dim",
                                                 "qk_rope_head_dim",
                                                 "v_head_dim",
                                                 "n_shared_experts",
                                                 "moe_intermediate_size",
                                                 "first_k_dense_replace",
                                                 "moe_layer_freq",
                                                 "decoder_sparse_step",
                                                 "mlp_only_layers",
                                                 "n_embd",
                                                 "n_layer",
                                                 "n_head",
                                                 "n_inner",
                                                 "n_positions",
                                                 "use_parallel_residual"};

/// What of an architecture podsim does not model, by model_type.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kNotModelled{{
    {"llama4", "chunked attention and a vision encoder"},
    {"llama4_text", "chunked attention"},
    {"qwen2_moe", "a gated shared expert"},
    {"gemma3", "a vision encoder"},
    {"gpt_oss", "biases of experts and attention sinks"},
    {"opt", "embeddings projected to another width"},
    {"bert", "an encoder"},
    {"t5", "an encoder"},
    {"mamba", "state-space layers"},
    {"jamba", "state-space layers"},
}};

/// Layers, widths and heads, under the keys that most families use.
void read_shape(const HfConfig& config, ModelSpec& model, bool with_kv_heads = true) {
    model.layers = config.required("num_hidden_layers", ModelLimits::layers);
    model.d_model = config.required("hidden_size", ModelLimits::d_model);
    model.d_ff = config.required("intermediate_size", ModelLimits::d_ff);
    model.heads = config.required("num_attention_heads", ModelLimits::heads);
    model.kv_heads = with_kv_heads
                         ? config.whole("num_key_value_heads", model.heads).value_or(model.heads)
                         : model.heads;
    model.vocabulary = config.required("vocab_size", ModelLimits::vocabulary);
    if (model.heads % model.kv_heads != 0) {
        config.refuse(
            "num_key_value_heads",
            fmt::format("'num_key_value_heads' = {} does not divide 'num_attention_heads' = {}",
                        model.kv_heads, model.heads),
            "every key/value head serves the same number of query heads");
    }
}

void read_head_dim(const HfConfig& config, ModelSpec& model) {
    if (const auto head_dim = config.whole("head_dim", ModelLimits::head_dim)) {
        model.head_dim = *head_dim;
    } else if (model.d_model % model.heads == 0) {
        model.head_dim = model.d_model / model.heads;
    } else {
        config.refuse(
            "hidden_size",
            fmt::format("'hidden_size' = {} is not a multiple of 'num_attention_heads' = {}",
                        model.d_model, model.heads),
            "give the key 'head_dim'");
    }
}

/// One flag for the biases of all four projections.
void read_attention_bias(const HfConfig& config, ModelSpec& model) {
    model.qkv_bias = model.out_bias = config.flag("attention_bias");
}

void read_window(const HfConfig& config, ModelSpec& model) {
    model.window = config.whole("sliding_window", 1LL << 40).value_or(0);
}

void read_llama(const HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    read_head_dim(config, model);
    model.tied_embeddings = config.flag("tie_word_embeddings");
    read_attention_bias(config, model);
    model.mlp_bias = config.flag("mlp_bias");
}

void read_mistral(const HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    read_head_dim(config, model);
    model.tied_embeddings = config.flag("tie_word_embeddings");
    read_window(config, model);
}

/// The width of a layer's experts is intermediate_size itself.
void read_mixtral(const HfConfig& config, ModelSpec& model) {
    read_mistral(config, model);
    model.experts.count = config.required("num_local_experts", ModelLimits::experts);
    model.experts.per_token = config.required("num_experts_per_tok", model.experts.count);
    model.experts.d_ff = model.d_ff;
}

/// use_sliding_window: false (the default) makes sliding_window void.
void refuse_partial_window(const HfConfig& config) {
    if (config.flag("use_sliding_window")) {
        config.refuse("use_sliding_window",
                      "a window in some layers only ('use_sliding_window': true) is not modelled",
                      "set it to false if all layers attend to the whole sequence");
    }
}

void read_qwen2(const HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    read_head_dim(config, model);
    refuse_partial_window(config);
    model.tied_embeddings = config.flag("tie_word_embeddings");
    model.qkv_bias = true;
}

void read_qwen3(const HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    model.head_dim = config.whole("head_dim", ModelLimits::head_dim).value_or(128);
    refuse_partial_window(config);
    model.tied_embeddings = config.flag("tie_word_embeddings");
    read_attention_bias(config, model);
    model.qk_norm = true;
}

void read_qwen3_moe(const HfConfig& config, ModelSpec& model) {
    read_qwen3(config, model);
    if (const auto* dense = config.find("mlp_only_layers"); dense != nullptr && !dense->empty()) {
        config.refuse(
            "mlp_only_layers", "dense layers by number ('mlp_only_layers') are not modelled",
            "podsim knows first_dense layers at the start and experts in every n-th layer");
    }
    model.experts.count = config.required("num_experts", ModelLimits::experts);
    model.experts.per_token = config.required("num_experts_per_tok", model.experts.count);
    model.experts.d_ff = config.required("moe_intermediate_size", ModelLimits::d_ff);
    model.experts.every = config.whole("decoder_sparse_step", model.layers).value_or(1);
}

void read_gemma(const HfConfig& config, ModelSpec& model) {
    read_shape(config, model);
    model.head_dim = config.whole("head_dim", ModelLimits::head_dim).value_or(256);
    model.tied_embeddings = config.flag("tie_word_embeddings", true);
    read_attention_bias(config, model);
}

/// layer_types, which newer files have, must say what the pattern says.
void check_layer_types(const HfConfig& config, const ModelSpec& model) {
    const auto* types = config.find("layer_types");
    if (types == nullptr) {
        return;
    }
    bool same = types->is_array() && types->size() == static_cast<std::size_t>(model.layers);
    for (std::int64_t layer = 0; same && layer < model.layers; ++layer) {
        same = (*types)[static_cast<std::size_t>(layer)] ==
               (layer_kind(model, layer).local ? "sliding_attention" : "full_attention");
    }
    if (!same) {
        config.refuse(
            "layer_types",
            fmt::format("'layer_types' is not the pattern in which every {}th of {} layers "
                        "has full attention",
                        model.global_every, model.layers),
            "other patterns are not modelled");
    }
}

/// Windows in all but the last of every `global_every` layers; outputs of the blocks are normed too.
void read_gemma_with_windows(const HfConfig& config, ModelSpec& model, std::int64_t global_every) {
    read_gemma(config, model);
    model.norms = 4;
    model.window = config.whole("sliding_window", 1LL << 40).value_or(4096);
    model.global_every =
        config.whole("sliding_window_pattern", ModelLimits::layers).value_or(global_every);
    check_layer_types(config, model);
}

void read_gemma2(const HfConfig& config, ModelSpec& model) {
    read_gemma_with_windows(config, model, 2);
}

void read_gemma3(const HfConfig& config, ModelSpec& model) {
    read_gemma_with_windows(config, model, 6);
    model.qk_norm = true;
}

/// The multi-token prediction module (num_nextn_predict_layers) is not a layer of the model.
void read_deepseek(const HfConfig& config, ModelSpec& model) {
    read_shape(config, model, false);
    model.latent.q_rank = config.whole("q_lora_rank", ModelLimits::d_model).value_or(0);
    model.latent.kv_rank = config.required("kv_lora_rank", ModelLimits::d_model);
    model.latent.rope_dim = config.required("qk_rope_head_dim", ModelLimits::head_dim);
    model.latent.value_dim = config.required("v_head_dim", ModelLimits::head_dim);
    model.head_dim =
        config.required("qk_nope_head_dim", ModelLimits::head_dim) + model.latent.rope_dim;
    model.tied_embeddings = config.flag("tie_word_embeddings");
    if (config.flag("attention_bias")) {
        config.refuse("attention_bias",
                      "biases of latent attention ('attention_bias': true) are not "
                      "modelled");
    }
    if (config.whole("moe_layer_freq", ModelLimits::layers).value_or(1) != 1) {
        config.refuse("moe_layer_freq", "'moe_layer_freq' other than 1 is not modelled",
                      "layers behind first_k_dense_replace all have experts");
    }
    model.experts.count = config.required("n_routed_experts", ModelLimits::experts);
    model.experts.per_token = config.required("num_experts_per_tok", model.experts.count);
    model.experts.shared = config.whole("n_shared_experts", ModelLimits::experts, 0).value_or(0);
    model.experts.d_ff = config.required("moe_intermediate_size", ModelLimits::d_ff);
    model.experts.first_dense = config.whole("first_k_dense_replace", model.layers, 0).value_or(0);
}

void read_deepseek_v3(const HfConfig& config, ModelSpec& model) {
    read_deepseek(config, model);
    model.experts.router_bias = true;
}

/// A plain MLP and biases everywhere.
void set_gpt(ModelSpec& model) {
    model.gated_mlp = false;
    model.norm = Norm::layer;
    model.qkv_bias = model.out_bias = model.mlp_bias = true;
}

void read_gpt2(const HfConfig& config, ModelSpec& model) {
    model.layers = config.required("n_layer", ModelLimits::layers);
    model.d_model = config.required("n_embd", ModelLimits::d_model);
    model.heads = model.kv_heads = config.required("n_head", ModelLimits::heads);
    model.positions = config.required("n_positions", ModelLimits::vocabulary);
    model.vocabulary = config.required("vocab_size", ModelLimits::vocabulary);
    model.d_ff = config.whole("n_inner", ModelLimits::d_ff).value_or(4 * model.d_model);
    if (model.d_model % model.heads != 0) {
        config.refuse("n_embd", fmt::format("'n_embd' = {} is not a multiple of 'n_head' = {}",
                                            model.d_model, model.heads));
    }
    model.head_dim = model.d_model / model.heads;
    model.tied_embeddings = config.flag("tie_word_embeddings", true);
    set_gpt(model);
}

/// With parallel residuals attention and MLP have a norm each, over the same input.
void read_gpt_neox(const HfConfig& config, ModelSpec& model) {
    read_shape(config, model, false);
    read_head_dim(config, model);
    model.parallel_block = config.flag("use_parallel_residual", true);
    model.tied_embeddings = config.flag("tie_word_embeddings");
    set_gpt(model);
    model.qkv_bias = model.out_bias = config.flag("attention_bias", true);
}

struct Family {
    std::string_view type;
    void (*read)(const HfConfig& config, ModelSpec& model);
};

constexpr std::array<Family, 13> kFamilies{{
    {"llama", read_llama},
    {"mistral", read_mistral},
    {"mixtral", read_mixtral},
    {"gemma", read_gemma},
    {"gemma2", read_gemma2},
    {"gemma3_text", read_gemma3},
    {"qwen2", read_qwen2},
    {"qwen3", read_qwen3},
    {"qwen3_moe", read_qwen3_moe},
    {"deepseek_v2", read_deepseek},
    {"deepseek_v3", read_deepseek_v3},
    {"gpt2", read_gpt2},
    {"gpt_neox", read_gpt_neox},
}};

std::vector<std::string> family_names() {
    std::vector<std::string> names;
    names.reserve(kFamilies.size());
    for (const Family& family : kFamilies) {
        names.emplace_back(family.type);
    }
    return names;
}

const Family& find_family(const HfConfig& config) {
    const std::vector<std::string> names = family_names();
    const std::string remedy = fmt::format("podsim reads {}", fmt::join(names, ", "));
    const nlohmann::json* type = config.find("model_type");
    if (type == nullptr) {
        config.refuse_missing("model_type", remedy);
    }
    if (!type->is_string()) {
        config.refuse("model_type", "'model_type' is not a text", remedy);
    }
    const auto name = type->get<std::string>();
    const auto* const found = std::ranges::find(kFamilies, name, &Family::type);
    if (found != kFamilies.end()) {
        return *found;
    }
    const std::string problem = fmt::format("model_type '{}' is not modelled", clip(name));
    for (const auto& [family, missing] : kNotModelled) {
        if (name == family) {
            config.refuse("model_type", problem + fmt::format(": it has {}", missing), remedy);
        }
    }
    const std::string near = name.size() <= kLongestName ? sim::nearest(name, names) : "";
    config.refuse("model_type", problem,
                  (near.empty() ? "" : fmt::format("did you mean '{}'? ", near)) + remedy);
}

/// Experts in a family that has none.
void refuse_experts(const HfConfig& config, const Family& family, const ModelSpec& model) {
    for (const char* key : {"num_local_experts", "num_experts", "n_routed_experts"}) {
        if (model.experts.count == 0 && config.find(key) != nullptr) {
            config.refuse(
                key, fmt::format("experts ('{}') in a model of the family {}", key, family.type),
                "families with experts are mixtral, qwen3_moe, deepseek_v2, deepseek_v3");
        }
    }
}

}  // namespace

ModelSpec read_hf_config(const std::string& path) {
    const HfConfig config(path, kKeys);
    const Family& family = find_family(config);
    ModelSpec model;
    model.name = fmt::format("{} of {}", family.type, path);
    model.source = path;
    family.read(config, model);
    refuse_experts(config, family, model);
    try {
        validate(model);
    } catch (const sim::InputError& error) {
        throw error.at(config.mark("hidden_size"));  // what no single key says
    }
    return model;
}

}  // namespace podsim::workloads
