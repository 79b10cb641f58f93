#include "workloads/models/hf_keys.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace podsim::workloads {
namespace {

constexpr std::array kKeys = std::to_array<std::string_view>({
    "alibi",
    "attention_bias",
    "attention_chunk_size",
    "attention_head_dim",
    "attention_k_eq_v",
    "attention_out_bias",
    "bias",
    "decoder_sparse_step",
    "do_layer_norm_before",
    "enable_bias",
    "enable_moe_block",
    "ffn_dim",
    "ffn_hidden_size",
    "first_k_dense_replace",
    "global_head_dim",
    "head_dim",
    "hidden_size",
    "hidden_size_per_layer_input",
    "interleave_moe_layer_step",
    "intermediate_size",
    "intermediate_size_mlp",
    "kv_lora_rank",
    "layer_types",
    "lm_head_bias",
    "max_position_embeddings",
    "mlp_bias",
    "mlp_layer_types",
    "mlp_only_layers",
    "model_type",
    "moe_intermediate_size",
    "moe_k",
    "moe_layer_freq",
    "moe_layer_interval",
    "moe_layer_start_index",
    "moe_num_experts",
    "moe_num_shared_experts",
    "moe_topk",
    "moe_use_aux_free",
    "multi_query",
    "n_embd",
    "n_head",
    "n_inner",
    "n_layer",
    "n_positions",
    "n_routed_experts",
    "n_shared_experts",
    "new_decoder_architecture",
    "num_attention_heads",
    "num_experts",
    "num_experts_per_tok",
    "num_global_key_value_heads",
    "num_hidden_layers",
    "num_key_value_heads",
    "num_kv_heads",
    "num_kv_shared_layers",
    "num_layers",
    "num_ln_in_parallel_attn",
    "num_local_experts",
    "num_shared_expert",
    "parallel_attn",
    "per_layer_config",
    "q_lora_rank",
    "qk_layernorm",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "qkv_bias",
    "shared_expert_intermediate_size",
    "shared_intermediate_size",
    "sliding_window",
    "_sliding_window_pattern",
    "sliding_window_pattern",
    "tie_word_embeddings",
    "top_k_experts",
    "use_bias",
    "use_bidirectional_attention",
    "use_cla",
    "use_parallel_residual",
    "use_qk_norm",
    "use_qkv_bias",
    "use_routing_bias",
    "use_sliding_window",
    "v_head_dim",
    "vocab_size",
    "word_embed_proj_dim",
});

/// Ignored keys with a common reason, separated by blanks.
struct Ignored {
    std::string_view reason;
    std::string_view keys;
};

constexpr Ignored kIgnored[] = {
    {"of the positions, which a step's time does not depend on",
     "rope_theta rope_scaling rope_parameters rope_interleave rope_local_base_freq "
     "rotary_emb_base rotary_pct rotary_dim rotary partial_rotary_factor rope_pct "
     "original_max_position_embeddings rope_percent use_rotary mrope_section "
     "position_embedding_type no_rope_layers no_rope_layer_interval "
     "attn_temperature_tuning attn_scale floor_scale rope_position_scale "
     "use_position_embedding max_position_embeddings max_seq_len seq_length n_ctx "
     "model_max_length rotary_emb_fraction"},
    {"a factor or limit of values, which takes no time of its own",
     "rms_norm_eps layer_norm_eps layer_norm_epsilon norm_epsilon norm_eps "
     "layernorm_epsilon layer_norm_rms_epsilon logit_scale logits_scaling "
     "embedding_multiplier attention_multiplier residual_multiplier "
     "final_logit_softcapping attn_logit_softcapping query_pre_attn_scalar clip_qkv "
     "scale_attn_weights scale_attn_by_inverse_layer_idx swiglu_limit softmax_scale "
     "mup_enabled width_multiplier scale_emb scale_depth dim_model_base attn_logit_cap"},
    {"of a choice that the class makes anyway", "use_mixed_mlp_moe normalization_function"},
    {"of state-space layers, of which there are none",
     "mamba_n_heads mamba_n_groups mamba_d_state mamba_d_head mamba_d_conv mamba_expand "
     "mamba_chunk_size mamba_conv_bias mamba_proj_bias"},
    {"of the activation: all are timed alike",
     "hidden_act hidden_activation activation_function activation gelu_approximate "
     "feed_forward_proj use_gelu"},
    {"of training's beginning or randomness",
     "initializer_range attention_dropout hidden_dropout hidden_dropout_prob resid_pdrop "
     "attn_pdrop embd_pdrop attn_dropout resid_dropout embd_dropout embedding_dropout "
     "residual_dropout dropout layerdrop classifier_dropout attention_probs_dropout_prob "
     "output_dropout summary_first_dropout init_std layer_norm_elementwise_affine "
     "_remove_final_layer_norm moe_dropout_prob cls_token_id init_method"},
    {"of the router's choice, which is timed as even",
     "norm_topk_prob router_aux_loss_coef router_aux_loss output_router_logits "
     "router_jitter_noise input_jitter_noise n_group topk_group topk_method scoring_func "
     "routed_scaling_factor aux_loss_alpha seq_aux router_scale ep_size "
     "experts_per_token scoring moe_router_dtype router_z_loss_coef moe_capacity "
     "moe_use_softmax"},
    {"of the tokens",
     "bos_token_id eos_token_id pad_token_id sep_token_id unk_token_id "
     "decoder_start_token_id eoc_token_id eoi_token_index boi_token_index "
     "image_token_index image_token_id video_token_id vision_start_token_id "
     "vision_end_token_id vision_token_id tokenizer_class word_embed_proj_type prefix "
     "audio_token_id boa_token_id boi_token_id eoa_token_id eoa_token_index eoi_token_id"},
    {"of how the library runs or stores the model",
     "architectures auto_map torch_dtype dtype transformers_version use_cache "
     "cache_implementation _name_or_path _attn_implementation_autoset attn_implementation "
     "_attn_implementation name_or_path pretraining_tp gradient_checkpointing return_dict "
     "output_attentions output_hidden_states torchscript use_bfloat16 quantization_config "
     "task_specific_params id2label label2id problem_type chunk_size_feed_forward "
     "pruned_heads tie_encoder_decoder is_encoder_decoder is_decoder "
     "cross_attention_hidden_size add_cross_attention finetuning_task for_llm_compressor "
     "upcast_layernorm tf_legacy_loss pipeline_parallel_degree tensor_parallel_degree "
     "sequence_parallel runner_type validate_runner_input inference_runner pre_seq_len "
     "attention_softmax_in_fp32 scale_attention_softmax_in_fp32 reorder_and_upcast_attn "
     "fused_qkv unsloth_fixed unsloth_version compression_ratio mlp_type "
     "layer_types_pattern"},
    {"of generation: how tokens are drawn",
     "temperature top_k top_p typical_p num_beams num_beam_groups max_length min_length "
     "do_sample early_stopping length_penalty repetition_penalty no_repeat_ngram_size "
     "encoder_no_repeat_ngram_size bad_words_ids num_return_sequences diversity_penalty "
     "exponential_decay_length_penalty forced_bos_token_id forced_eos_token_id "
     "remove_invalid_values begin_suppress_tokens suppress_tokens return_dict_in_generate "
     "output_scores initial_context_length summary_type summary_use_proj "
     "summary_activation summary_proj_to_labels"},
    {"modules of multi-token prediction are no layers of the model; model.mtp_layers adds them",
     "num_nextn_predict_layers mtp_num_layers num_mtp_modules mtp_transformer_layers "
     "use_mtp"},
    {"a window that no layer has while use_sliding_window is false", "max_window_layers"},
    {"of embeddings of every layer and of layers with the keys and values of others, of which "
     "there are none",
     "vocab_size_per_layer_input use_double_wide_mlp"},
    {"of the other parts of a multimodal model",
     "vision_soft_tokens_per_image vision_config audio_config "
     "vision_feature_layer vision_feature_select_strategy "
     "mm_tokens_per_image projector_hidden_act spatial_merge_size "
     "multimodal_projector_bias"},
};

/// True if a text of words contains the word.
bool has_word(std::string_view text, std::string_view word) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (text.substr(0, end) == word) {
            return true;
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

}  // namespace

std::span<const std::string_view> hf_keys() {
    return kKeys;
}

std::string_view why_ignored(std::string_view key) {
    for (const Ignored& group : kIgnored) {
        if (has_word(group.keys, key)) {
            return group.reason;
        }
    }
    return {};
}

}  // namespace podsim::workloads
