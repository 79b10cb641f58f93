#include "scenarios/src/import/maxtext_defaults.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>

#include "scenarios/src/base/quote.h"

namespace podsim::scenarios {
namespace {

/// Sorted. Lists that are not empty are left out, as are keys that have had several values in
/// base.yml over time.
constexpr std::string_view kDefaults = R"(
adamw_mask=[] ar_cache_axis_order=1,2,0,3 attention_output_dim=-1 attention_sink=false attn_logits_soft_cap=0.0 batch_split_factor=1
block_diffusion_canvas_policy=all_masked block_diffusion_logit_alignment=same_position block_diffusion_mask_id=-1
block_diffusion_min_noise=0.001 cast_logits_to_fp32=true causal_block_size=32 check_vma=false colocated_python_data_input=false
communication_overlapping_alpha=0.0 compress_ratios=[] compute_axis_order=0,1,2,3 constant_bound_config=
context_parallel_reorder_strategy=auto context_sharding=context cost_estimate_flops_bwd=-1 cost_estimate_flops_fwd=-1
dcn_bandwidth_burst=10mb dcn_bandwidth_interface=eth0 dcn_bandwidth_latency=50ms dcn_bandwidth_limit= diloco_sync_period=36
distill_alpha=0.5 distill_alpha_end= distill_alpha_schedule=constant distill_beta=0.0 distill_beta_end= distill_beta_schedule=constant
distill_feature_loss_type=cosine distill_layer_indices= distill_temperature=1.0 distill_temperature_end=
distill_temperature_schedule=constant dtype_mm=float32 enable_mhc_lite=false enable_padding_causal_mask=true
enable_single_replica_ckpt_restoring=false enable_streaming_diloco=false enable_tpu_profiling_options=false engram=remat
engram_head_dim=1280 engram_kernel_size=4 engram_layers=[] engram_max_ngram_size=3 engram_num_heads=8 engram_vocab_bases=[]
experimental_sa_quant_k_fp8=false experimental_sa_quant_q_fp8=false expert_shard_attention_option=fsdp final_logits_soft_cap=0.0
first_num_dense_layers=0 first_num_hash_layers=0 float32_gate_logits=false float32_logits=false float32_weight_sum=true force_unroll=false
freeze_audio_encoder_params=true freeze_vision_encoder_params=true fsdp_shard_on_exp=false gdn_chunk_size=64 gdn_conv_kernel_dim=4
gdn_key_head_dim=128 gdn_num_key_heads=16 gdn_num_value_heads=32 gdn_value_head_dim=128 generate_padding_batch_train=false
global_rampup_samples=500 hidden_size_per_layer_input=0 indexer_approx_top_k_recall=0.95 indexer_cutoff_threshold=remat
indexer_head_dim=128 indexer_loss_scaling_factor=0.0 indexer_mask_exact_topk=true indexer_n_heads=64 indexer_sparse_training=false
indexer_topk=2048 indexer_use_approx_top_k=false inhomogeneous_layer_cycle_interval=1 interleave_moe_layer_step=1 kv_lora_rank=512
local_sa_fuse_reciprocal= local_sa_use_base2_exp= local_use_splash_scheduler= lora_input_adapters_path= max_checkify=false
max_inflight_computations=2 max_num_images_per_example=-1 merge_gating_gmm=false mhc_expansion_rate=1 mhc_pallas_kernel_bwd_block_size=128
mhc_pallas_kernel_fwd_block_size=256 mla_qk_head_chunk_size=0 mlp_activations_limit=-1.0 mlp_bias=false moba=false moba_chunk_size=1024
moba_topk=8 model_call_mode= model_fsdp_ag_once=false moe_chunk_barrier=false moe_dispatch_no_expert_sharding=false
moe_expert_input_dim=-1 moe_matmul=false multi_sampling=false muon_beta=0.95 muon_consistent_rms= muon_weight_decay=0
nope_layer_interval=-1 normalize_embedding_logits=true num_diloco_fragments= num_kv_shared_layers=0 o_groups=0 o_lora_rank=0
override_logical_axis_rules=false param_scan_axis=1 partial_rotary_factor=1.0 per_device_batch_size_increment=2.0
per_device_batch_size_start=4.0 position_id_per_seconds=25 q_lora_rank=0 qk_clip_threshold=100.0 qk_nope_head_dim=128
qk_norm_with_scale=true qk_rope_head_dim=64 quant_cfg_path= quantization_local_shard_count=-1 ragged_block_size=256
ragged_buffer_factor=-1.0 ragged_gather_cost_estimate_bytes_accessed=-1 ragged_gather_cost_estimate_flops=-1 ragged_gather_fallback=false
ragged_gather_reduce_cost_estimate_bytes_accessed=-1 ragged_gather_reduce_cost_estimate_flops=-1 ragged_gather_reduce_fallback=false
remove_size_one_mesh_axis_from_type=true replicate_quant_scale=false reshape_q=false ring_scan_unroll=1 routed_bias=false
routed_bias_update_rate=0.0 routed_score_func= sa_bwd_dkv_megacore=false sa_fuse_reciprocal=true sa_use_base2_exp=true
save_config_to_gcs=false save_quantized_params_path= scan_layers_per_stage=false scan_pipeline_iterations=true
set_remat_policy_on_layers_per_stage=false set_remat_policy_on_pipeline_iterations=true sft_train_on_completion_only=false shard_mode=auto
sinkhorn_iterations=20 skip_step_interval=128 skip_step_on_spikes=false skip_step_scaling_factor=6.0 subslice_shape=
te_comm_gemm_overlap=disabled temperature_tuning=false tile_activation_dim=1024 tile_batch_seq=512 tile_weight_dim=1024
trainable_parameters_mask=[] trainable_position_size=-1 training_objective=causal_lm ulysses_context_sharding=context_usp_ulysses
use_audio_in_video=false use_double_wide_mlp=false use_gather_mosaic_kernel=false use_manual_quantization=false
use_mhc_pallas_kernel=false use_post_attn_norm=false use_post_ffw_norm=false use_qk_clip=false use_qk_norm_in_gdn=true
use_ragged_attention=false use_ragged_sort=false use_random_routing=false use_sequential_layers=false use_sft=false
use_sliced_mla_proj=false use_sparse_indexer=false use_splash_scheduler=false use_untrainable_positional_embedding=false v_head_dim=128
v_norm_with_scale=true vision_output_length=-1 vocab_size_per_layer_input=0 weight_sparsity_m= weight_sparsity_n=
weight_sparsity_start_step=50 weight_sparsity_update_step=10 wi_combine_scopes=false wi_tile_dlhs_buffer_count=2
wi_tile_drhs_buffer_count=2 wi_tile_fwd_buffer_count=2 wo_combine_scopes=false wo_tile_dlhs_buffer_count=2 wo_tile_drhs_buffer_count=2
wo_tile_fwd_buffer_count=2 write_estimator_result=false
)";

bool ends_value(char letter) {
    return letter == ' ' || letter == '\n';
}

std::string plain_value(std::string_view text) {
    std::string small = lower_case(std::string(text));
    return small == "none" || small == "null" || small == "~" ? "" : small;
}

std::optional<double> number_in(const std::string& text) {
    std::string digits = text;
    std::erase(digits, '_');
    double value = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    return read.ec == std::errc{} && read.ptr == end ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::string_view> maxtext_default(std::string_view key) {
    for (std::size_t at = kDefaults.find(key, 1); at != std::string_view::npos;
         at = kDefaults.find(key, at + 1)) {
        const std::string_view rest = kDefaults.substr(at + key.size());
        if (ends_value(kDefaults[at - 1]) && rest.starts_with('=')) {
            return rest.substr(1, rest.find_first_of(" \n") - 1);
        }
    }
    return std::nullopt;
}

bool says_the_same(std::string_view text, std::string_view other) {
    const std::string one = plain_value(text);
    const std::string two = plain_value(other);
    const auto value = number_in(one);
    return one == two || (value && value == number_in(two));
}

}  // namespace podsim::scenarios
