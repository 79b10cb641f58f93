#include "scenarios/src/import/maxtext_keys.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <sstream>
#include <utility>

#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

/// Keys other than parallelisms.
constexpr const char* kRead = R"(
compile_topology compile_topology_num_slices model_name override_model_config global_parameter_scale per_device_batch_size max_target_length
gradient_accumulation_steps remat_policy decoder_layer_input context attention_out attention_bias out_proj query_proj key_proj value_proj
qkv_proj moe_mlpwi_0 moe_mlpwi_1 moe_mlpwo mla_q mla_kv query_wa_proj kv_wa_proj kv_proj fused_qkv fused_mlp allow_split_physical_axes custom_mesh
shard_optimizer_over_data shard_mode mlpwi mlpwi_0 mlpwi_1 mlpwo weight_dtype mu_dtype grad_dtype quantization attention float32_logits float32_qk_product scan_layers num_vocab_tiling
capacity_factor megablox sparse_matmul use_custom_sort_vjp use_tokamax_gmm use_gmm_v2
use_max_logit_estimate use_tokamax_splash
wi_tile_fwd_batch_seq wi_tile_fwd_embed_dim wi_tile_fwd_mlp_dim wi_tile_dlhs_batch_seq wi_tile_dlhs_embed_dim wi_tile_dlhs_mlp_dim
wi_tile_drhs_batch_seq wi_tile_drhs_embed_dim wi_tile_drhs_mlp_dim wo_tile_fwd_batch_seq wo_tile_fwd_embed_dim wo_tile_fwd_mlp_dim
wo_tile_dlhs_batch_seq wo_tile_dlhs_embed_dim wo_tile_dlhs_mlp_dim wo_tile_drhs_batch_seq wo_tile_drhs_embed_dim wo_tile_drhs_mlp_dim
sa_block_q sa_block_kv sa_block_q_dkv sa_block_kv_dkv sa_block_q_dq sa_block_kv_dq
sa_use_fused_bwd_kernel use_qwix_quantization weight_quantization_calibration_method act_quantization_calibration_method
bwd_quantization_calibration_method num_pipeline_microbatches num_pipeline_repeats
pipeline_parallel_layers num_layers_per_pipeline_stage pipeline_delay_activation_forwarding opt_type base_emb_dim base_num_heads
base_num_query_heads base_num_kv_heads base_mlp_dim base_num_decoder_layers base_moe_mlp_dim num_experts num_experts_per_tok head_dim
global_head_dim global_num_kv_heads
vocab_size mtp_num_layers mtp_loss_scaling_factor mtp_eval_target_module logits_via_embedding logits_dot_in_fp32 LIBTPU_INIT_ARGS compile_xla_flags
gradient_clipping_threshold decoder_block mlp_activations use_qk_norm scale)";

/// Keys of MaxText that resemble one that is read, but differ in meaning: all of @e591f30.
constexpr std::array kOthers =
    std::to_array<std::string_view>({"mscale", "rope_type", "v_head_dim"});

/// Subjects of keys, by segments of their names.
constexpr std::array kReasons = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"checkpoint", "of checkpoints"},
    {"orbax", "of checkpoints"},
    {"dataset", "of the data"},
    {"grain_", "of the data"},
    {"hf_", "of the data"},
    {"example_batch", "of the data"},
    {"tokenize", "of the data"},
    {"max_corpus_chars", "of the data"},
    {"packing", "of the data"},
    {"shuffl", "of the data"},
    {"chat_template", "of the data"},
    {"data_columns", "of the data"},
    {"add_bos", "of the data"},
    {"add_eos", "of the data"},
    {"profile", "of the profiler"},
    {"xplane", "of the profiler"},
    {"trace", "of the profiler"},
    {"tensorboard", "of logs and metrics"},
    {"metrics", "of logs and metrics"},
    {"goodput", "of logs and metrics"},
    {"log_", "of logs and metrics"},
    {"run_name", "of logs and metrics"},
    {"output_dir", "of logs and metrics"},
    {"base_output", "of logs and metrics"},
    {"steps", "of the run's length"},
    {"learning_rate", "of the optimizer's numbers"},
    {"adam_", "of the optimizer's numbers"},
    {"warmup", "of the optimizer's numbers"},
    {"_compute", "of the kernel's inner blocks"},
    {"_layout", "of the kernel's layouts"},
    {"tokamax", "which kernel: podsim has one"},
    {"fused_", "matmuls side by side: podsim runs them as one"},
    {"hardware", "of how the run starts"},
    {"eval", "of evaluation"},
    {"seed", "random numbers"},
    {"rope", "of positions"},
    {"dropout", "dropout takes no time here"},
    {"xprof", "of the profiler"},
    {"dump_", "of logs and metrics"},
    {"wandb", "of logs and metrics"},
    {"vertex", "of logs and metrics"},
    {"monitor", "of logs and metrics"},
    {"heartbeat", "of logs and metrics"},
    {"managed_mldiagnostics", "of logs and metrics"},
    {"debug_", "of logs and metrics"},
    {"abort_on", "of logs and metrics"},
    {"jax_", "of how the run starts"},
    {"elastic", "of how the run starts"},
    {"nnx", "of MaxText's own code"},
    {"shardy", "of XLA's partitioner"},
    {"xla_flags", "flags of XLA that nothing here depends on"},
    {"num_slices", "compile_topology_num_slices says it"},
    {"base_config", "the keys of that file stand behind those of this one"},
    {"for_vit", "of an encoder"},
    {"for_audio", "of an encoder"},
    {"decode_", "of inference"},
    {"prefill", "of inference"},
    {"inference", "of inference"},
    {"kvcache", "of inference"},
    {"kv_quant", "of inference"},
    {"prompt", "of inference"},
    {"normalization_layer_epsilon", "a number in a norm"},
    {"init_scale", "random numbers"},
    {"sharding_tolerance", "a check of MaxText's"},
    {"load_parameters", "of checkpoints"},
    {"load_full_state", "of checkpoints"},
    {"lr_schedule", "of the optimizer's numbers"},
    {"wsd_", "of the optimizer's numbers"},
    {"diloco_outer", "of the optimizer's numbers"},
    {"loss_weight", "a factor of the loss"},
    {"loss_multiplier", "a factor of the loss"},
    {"num_epoch", "of the run's length"},
    {"train_split", "of the data"},
    {"train_image", "of the data"},
    {"use_truncation", "of the data"},
    {"max_segments", "of the data"},
    {"expansion_factor", "of the data"},
    {"olmo_", "of the data"},
    {"compiled_trainstep", "of how the run starts"},
    {"internal_compile", "of how the run starts"},
    {"single_controller", "of how the run starts"},
    {"prometheus", "of logs and metrics"},
    {"step_deviation", "of logs and metrics"},
    {"beta_fast", "of positions"},
    {"beta_slow", "of positions"},
    {"mscale", "of positions"},
    {"position_embeddings", "of positions"},
    {"routed_scaling_factor", "a factor in the router"},
    {"norm_topk", "a division in the router"},
    {"_placeholder", "of an encoder"},
    {"image_path", "of inference"},
    {"audio_path", "of inference"},
    {"video_path", "of inference"},
    {"video_max", "of an encoder"},
    {"vllm_", "of inference"},
    {"prefix_caching", "of inference"},
});

/// True if the names differ by a letter or two.
bool is_near(std::string_view name, std::string_view other) {
    constexpr std::size_t kLettersForOne = 4;
    constexpr std::size_t kMostEdits = 2;
    return sim::edits_between(name, other) <=
           std::clamp<std::size_t>(other.size() / kLettersForOne, 1, kMostEdits);
}

}  // namespace

std::vector<std::string> read_keys() {
    std::istringstream words(kRead);
    std::vector<std::string> keys(std::istream_iterator<std::string>(words), {});
    for (const char* const prefix : {"ici", "dcn"}) {
        for (const MaxTextParallelism& each : kMaxTextParallelisms) {
            keys.push_back(fmt::format("{}_{}_parallelism", prefix, each.name));
        }
    }
    return keys;
}

bool is_read(const std::string& key) {
    return std::ranges::count(read_keys(), key) > 0;
}

std::string meant_by(const std::string& key) {
    constexpr std::size_t kLongest = 100;
    if (key.size() > kLongest || is_read(key) || std::ranges::count(kOthers, key) > 0) {
        return {};
    }
    for (const std::string& read : read_keys()) {
        if (is_near(key, read)) {
            return read;
        }
    }
    return {};
}

bool shapes_steps(const std::string& key) {
    constexpr std::array kParts = std::to_array<std::string_view>(
        {"parallelism", "batch", "accum", "remat", "attention", "dtype", "quantiz", "expert",
         "fsdp", "tensor", "mlp", "layers", "heads", "head_dim", "target_length", "acc_", "fused",
         "attn"});
    return key.find("example_batch") == std::string::npos &&
           std::ranges::any_of(
               kParts, [&](std::string_view part) { return key.find(part) != std::string::npos; });
}

bool may_be_empty(const std::string& key) {
    return key == "quantization" || key == "mu_dtype" || key == "grad_dtype" ||
           key == "custom_mesh";
}

std::string_view reason_of(const std::string& key) {
    for (const auto& [part, reason] : kReasons) {
        if (key.find(part) != std::string::npos && key != "qk_rope_head_dim") {
            return reason;
        }
    }
    return {};
}

}  // namespace podsim::scenarios
