// Families with layer norms and plain MLPs (but stablelm, whose MLP is gated).
#include <array>
#include <fmt/format.h>

#include "workloads/models/hf_families.h"
#include "workloads/models/hf_parts.h"

namespace podsim::workloads {
namespace {

/// A plain MLP and biases everywhere.
void set_gpt(ModelSpec& model) {
    model.gated_mlp = false;
    model.norm = Norm::layer;
    model.qkv_bias = model.out_bias = model.mlp_bias = true;
}

/// The keys of GPT-2.
void read_n_keys(HfConfig& config, ModelSpec& model) {
    model.layers = config.required("n_layer", ModelLimits::layers);
    model.d_model = config.required("n_embd", ModelLimits::d_model);
    model.heads = model.kv_heads = config.required("n_head", ModelLimits::heads);
    model.vocabulary = config.required("vocab_size", ModelLimits::vocabulary);
    model.d_ff = config.whole("n_inner", ModelLimits::d_ff).value_or(4 * model.d_model);
    if (model.d_model % model.heads != 0) {
        config.refuse("n_embd", fmt::format("'n_embd' = {} is not a multiple of 'n_head' = {}",
                                            model.d_model, model.heads));
    }
    model.head_dim = model.d_model / model.heads;
}

void read_gpt2(HfConfig& config, ModelSpec& model) {
    read_n_keys(config, model);
    model.positions = config.required("n_positions", ModelLimits::vocabulary);
    read_tied(config, model, true);
    set_gpt(model);
}

void read_gpt_bigcode(HfConfig& config, ModelSpec& model) {
    read_gpt2(config, model);
    if (config.flag("multi_query", true)) {
        model.kv_heads = 1;
    }
}

/// One norm for attention and MLP; attention without biases, an unembedding with one.
void read_gptj(HfConfig& config, ModelSpec& model) {
    read_n_keys(config, model);
    read_tied(config, model);
    set_gpt(model);
    model.qkv_bias = model.out_bias = false;
    model.parallel_block = true;
    model.norms = 1;
    model.unembedding_bias = true;
}

/// With parallel residuals attention and MLP have a norm each, over the same input.
void read_gpt_neox(HfConfig& config, ModelSpec& model) {
    read_shape(config, model, false);
    read_head_dim(config, model);
    model.parallel_block = config.flag("use_parallel_residual", true);
    read_tied(config, model);
    set_gpt(model);
    model.qkv_bias = model.out_bias = config.flag("attention_bias", true);
}

void read_phi(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    refuse_set(config, "qk_layernorm", "a layer norm of queries and keys");
    set_gpt(model);
    model.parallel_block = true;
    model.norms = 1;
    model.unembedding_bias = true;
}

/// Two rows of the position table are for padding.
void read_opt(HfConfig& config, ModelSpec& model) {
    model.layers = config.required("num_hidden_layers", ModelLimits::layers);
    model.d_model = config.required("hidden_size", ModelLimits::d_model);
    model.d_ff = config.required("ffn_dim", ModelLimits::d_ff);
    model.heads = model.kv_heads = config.required("num_attention_heads", ModelLimits::heads);
    model.vocabulary = config.required("vocab_size", ModelLimits::vocabulary);
    read_head_dim(config, model);
    model.positions = config.required("max_position_embeddings", ModelLimits::vocabulary - 2) + 2;
    if (config.whole("word_embed_proj_dim", ModelLimits::d_model).value_or(model.d_model) !=
        model.d_model) {
        config.refuse("word_embed_proj_dim",
                      "embeddings projected to another width are not modelled");
    }
    if (!config.flag("do_layer_norm_before", true)) {
        config.refuse("do_layer_norm_before", "norms behind the residual are not modelled");
    }
    read_tied(config, model, true);
    set_gpt(model);
    if (!config.flag("enable_bias", true)) {
        model.qkv_bias = model.out_bias = model.mlp_bias = false;
    }
}

void read_falcon_heads(HfConfig& config, ModelSpec& model, bool newer) {
    model.layers = config.required("num_hidden_layers", ModelLimits::layers);
    model.d_model = config.required("hidden_size", ModelLimits::d_model);
    model.heads = config.required("num_attention_heads", ModelLimits::heads);
    model.vocabulary = config.required("vocab_size", ModelLimits::vocabulary);
    model.d_ff = config.whole("ffn_hidden_size", ModelLimits::d_ff).value_or(4 * model.d_model);
    model.kv_heads = newer ? config.whole("num_kv_heads", model.heads).value_or(model.heads)
                     : config.flag("multi_query", true) ? 1
                                                        : model.heads;
    read_head_dim(config, model);
}

/// The newer architecture (40B, 180B) norms the inputs of attention and MLP apart.
void read_falcon(HfConfig& config, ModelSpec& model) {
    const bool newer = config.flag("new_decoder_architecture");
    read_falcon_heads(config, model, newer);
    refuse_set(config, "alibi", "attention biased by distance");
    read_tied(config, model, true);
    set_gpt(model);
    model.parallel_block = config.flag("parallel_attn", true) || newer;
    const std::int64_t norms = config.whole("num_ln_in_parallel_attn", 2).value_or(newer ? 2 : 1);
    model.norms = model.parallel_block ? norms : 2;
    model.qkv_bias = model.out_bias = model.mlp_bias = config.flag("bias");
}

void read_starcoder2(HfConfig& config, ModelSpec& model) {
    read_body(config, model, true);
    read_window(config, model);
    set_gpt(model);
    model.qkv_bias = model.out_bias = model.mlp_bias = config.flag("use_bias", true);
}

void read_stablelm(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    // A vector for every head of queries and keys, without biases.
    model.qk_norm = model.qk_norm_of_heads = config.flag("qk_layernorm");
    model.norm = Norm::layer;
    model.qkv_bias = config.flag("use_qkv_bias");
    model.parallel_block = config.flag("use_parallel_residual");
    model.norms = model.parallel_block ? 1 : 2;
}

void read_nemotron(HfConfig& config, ModelSpec& model) {
    read_llama(config, model);
    model.gated_mlp = false;
    model.norm = Norm::layer;
}

constexpr std::array kGptFamilies = std::to_array<HfFamily>({
    {"gpt2", read_gpt2},
    {"gpt_bigcode", read_gpt_bigcode},
    {"gptj", read_gptj},
    {"gpt_neox", read_gpt_neox},
    {"phi", read_phi},
    {"opt", read_opt},
    {"falcon", read_falcon},
    {"starcoder2", read_starcoder2},
    {"stablelm", read_stablelm},
    {"nemotron", read_nemotron},
});

}  // namespace

std::span<const HfFamily> gpt_families() {
    return kGptFamilies;
}

}  // namespace podsim::workloads
