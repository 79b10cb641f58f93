// Command lines of published MaxText runs, imported, are the scenarios of scenarios/published.
//
// The meaning of files without use_qk_norm, logits_dot_in_fp32 and decoder_block is inferred from
// the scenarios, so these do not test it. All other values are facts of AI-Hypercomputer/maxtext
// and tpu-recipes at the commits that each scenario names. Recipes that are dictionaries of tuning
// parameters appear as key=value. Only some have keys that change nothing. compile_topology is the
// launcher's device type.
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

#include "scenarios/src/import/maxtext_import.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/checkout.h"

namespace podsim::scenarios {
namespace {

struct Line {
    const char* published;
    const char* base;
    std::string keys;
    /// Settings that no key of that version expresses.
    std::vector<std::string> unsaid{};
};

const std::string kV5e =
    "run_name=a steps=30 enable_checkpointing=false enable_profiler=false "
    "remat_policy=full max_target_length=2048 use_iota_embed=true "
    "reuse_example_batch=1 dataset_type=synthetic attention='flash' gcs_metrics=true "
    "compile_topology=v5e-256 ";
const std::string kV5p =
    "run_name=a steps=20 enable_checkpointing=false enable_profiler=false "
    "max_target_length=2048 ici_fsdp_parallelism=-1 use_iota_embed=true reuse_example_batch=1 "
    "dataset_type=synthetic gcs_metrics=true attention='flash' int8_training=false ";
/// The kernel's blocks were numbers in its code then.
const std::vector<std::string> kV5pBlocks{
    "training.attention_blocks={q: 512, kv: 512, q_dkv: 512, kv_dkv: 512, q_dq: 1024, kv_dq: 256}"};
const std::string kV4 =
    "run_name=2xv4-64 ici_fsdp_parallelism=64 steps=10 per_device_batch_size=16 "
    "enable_profiler=true remat_policy=full scale=3 compile_topology=v4-128 ";
const std::string kBlocks2048 =
    "sa_block_q=2048 sa_block_kv=2048 sa_block_kv_compute=2048 sa_block_q_dkv=2048 "
    "sa_block_kv_dkv=2048 "
    "sa_block_kv_dkv_compute=2048 sa_block_q_dq=2048 sa_block_kv_dq=2048 ";
const std::string kLlama =
    "ici_fsdp_parallelism=-1 remat_policy=custom decoder_layer_input=offload query_proj=offload "
    "key_proj=offload value_proj=offload max_target_length=8192 attention=flash "
    "use_iota_embed=True "
    "dataset_path=gs://max-datasets-rogue dataset_type=synthetic enable_checkpointing=False "
    "sa_use_fused_bwd_kernel=True profiler=xplane skip_first_n_steps_for_profiler=10 "
    "profiler_steps=5 " +
    kBlocks2048;
const std::string k70b = kLlama + "model_name=llama3.1-70b ";
const std::string k8b = kLlama + "model_name=llama3.1-8b out_proj=offload ";
const std::string kIronwood70b =
    "model_name=llama3.1-70b skip_jax_distributed_system=True dtype=bfloat16 "
    "per_device_batch_size=2 "
    "profile_periodically_period=10000 async_checkpointing=False enable_checkpointing=False "
    "use_iota_embed=True remat_policy=custom decoder_layer_input=device context=device "
    "query_proj=device key_proj=device value_proj=device qkv_proj=device ici_fsdp_parallelism=-1 "
    "dataset_type=synthetic opt_type=adamw mu_dtype=bfloat16 tokenizer_type=tiktoken "
    "sa_use_fused_bwd_kernel=True use_tokamax_splash=True max_target_length=8192 attention=flash "
    "compile_topology=tpu7x-128 ";

std::vector<Line> lines() {
    return {
        {"maxtext-v5e/maxtext-v5e-16b-1x", "2023",
         kV5e + "per_device_batch_size=6 global_parameter_scale=16"},
        {"maxtext-v5e/maxtext-v5e-16b-4x", "2023",
         kV5e + "per_device_batch_size=6 global_parameter_scale=16 compile_topology_num_slices=4"},
        {"maxtext-v5e/maxtext-v5e-16b-16x", "2023",
         kV5e + "per_device_batch_size=6 global_parameter_scale=16 compile_topology_num_slices=16"},
        {"maxtext-v5e/maxtext-v5e-32b-1x", "2023",
         kV5e + "per_device_batch_size=4 global_parameter_scale=32"},
        {"maxtext-v5e/maxtext-v5e-32b-16x", "2023",
         kV5e + "per_device_batch_size=4 global_parameter_scale=32 compile_topology_num_slices=16"},
        {"maxtext-v5e/maxtext-v5e-64b-1x", "2023",
         kV5e + "per_device_batch_size=2 global_parameter_scale=64"},
        {"maxtext-v5e/maxtext-v5e-64b-8x", "2023",
         kV5e + "per_device_batch_size=2 global_parameter_scale=64 compile_topology_num_slices=8"},
        {"maxtext-v5e/maxtext-v5e-64b-32x", "2023",
         kV5e + "per_device_batch_size=2 global_parameter_scale=64 compile_topology_num_slices=32"},
        {"maxtext-v5e/maxtext-v5e-128b-1x", "2023",
         kV5e + "per_device_batch_size=1 global_parameter_scale=128 ici_fsdp_parallelism=16 "
                "ici_tensor_parallelism=16"},
        {"maxtext-v5e/maxtext-v5e-128b-32x", "2023",
         kV5e + "per_device_batch_size=1 global_parameter_scale=128 ici_fsdp_parallelism=16 "
                "ici_tensor_parallelism=16 compile_topology_num_slices=32"},
        {"maxtext-v5p/maxtext-v5p-32b-1x-v5p-128", "2023",
         kV5p + "per_device_batch_size=8 remat_policy=minimal global_parameter_scale=32 "
                "ici_tensor_parallelism=4 compile_topology=v5p-128",
         kV5pBlocks},
        {"maxtext-v5p/maxtext-v5p-32b-2x-v5p-128", "2023",
         kV5p + "per_device_batch_size=8 remat_policy=minimal global_parameter_scale=32 "
                "ici_tensor_parallelism=4 compile_topology=v5p-128 compile_topology_num_slices=2",
         kV5pBlocks},
        {"maxtext-v5p/maxtext-v5p-128b-1x-v5p-256", "2023",
         kV5p + "per_device_batch_size=2 remat_policy=minimal global_parameter_scale=128 "
                "ici_tensor_parallelism=8 compile_topology=v5p-256",
         kV5pBlocks},
        {"maxtext-v5p/maxtext-v5p-256b-1x-v5p-1024", "2023",
         kV5p + "per_device_batch_size=2 remat_policy=minimal global_parameter_scale=256 "
                "ici_tensor_parallelism=8 compile_topology=v5p-1024",
         kV5pBlocks},
        {"maxtext-v5p/maxtext-v5p-256b-2x-v5p-1024", "2023",
         kV5p + "per_device_batch_size=2 remat_policy=minimal global_parameter_scale=256 "
                "ici_tensor_parallelism=8 compile_topology=v5p-1024 compile_topology_num_slices=2",
         kV5pBlocks},
        {"maxtext-v5p/maxtext-v5p-512b-1x-v5p-1024", "2023",
         kV5p + "per_device_batch_size=2 remat_policy=full global_parameter_scale=512 "
                "ici_tensor_parallelism=16 compile_topology=v5p-1024",
         kV5pBlocks},
        {"maxtext-v4/maxtext-v4-22b-1x",
         "2023-04",
         kV4 + "dcn_data_parallelism=1",
         {"model.qk_norm=false"}},
        {"maxtext-v4/maxtext-v4-22b-2x",
         "2023-04",
         kV4 + "dcn_data_parallelism=2 compile_topology_num_slices=2",
         {"model.qk_norm=false"}},
        {"recipes-v6e-llama3.1/recipe-llama3.1-70b-v6e-128", "2025",
         k70b + "per_device_batch_size=4 compile_topology=v6e-128"},
        {"recipes-v6e-llama3.1/recipe-llama3.1-70b-v6e-64", "2025",
         k70b + "per_device_batch_size=2 compile_topology=v6e-64"},
        {"recipes-v6e-llama3.1/recipe-llama3.1-70b-v6e-32", "2025",
         k70b + "per_device_batch_size=2 weight_dtype=bfloat16 compile_topology=v6e-32"},
        {"recipes-v6e-llama3.1/recipe-llama3.1-8b-v6e-128", "2025",
         k8b + "per_device_batch_size=4 compile_topology=v6e-128"},
        {"recipes-v6e-llama3.1/recipe-llama3.1-8b-v6e-32", "2025",
         k8b + "per_device_batch_size=3 compile_topology=v6e-32"},
        {"recipes-v6e-llama3.1/recipe-llama3.1-8b-v6e-8", "2025",
         k8b + "per_device_batch_size=3 compile_topology=v6e-8"},
        {"recipes-v6e-gpt3/recipe-gpt3-175b-bf16-v6e-256", "2025",
         "model_name=gpt3-175b per_device_batch_size=3 ici_fsdp_parallelism=-1 remat_policy=full "
         "attention=flash gcs_metrics=True "
         "dataset_type=synthetic reuse_example_batch=1 enable_checkpointing=False profiler=xplane "
         "sa_block_q=1024 sa_block_q_dkv=2048 "
         "sa_block_q_dq=2048 compile_topology=v6e-256"},
        {"recipes-v6e-mixtral/recipe-mixtral-8x7b-v6e-256", "2025",
         "model_name=mixtral-8x7b per_device_batch_size=12 ici_fsdp_parallelism=-1 "
         "max_target_length=4096 remat_policy=custom "
         "decoder_layer_input=offload out_proj=offload query_proj=offload key_proj=offload "
         "value_proj=offload attention=flash "
         "sa_block_q=2048 sa_block_q_dkv=2048 sa_block_q_dq=2048 megablox=False "
         "sparse_matmul=False capacity_factor=1.25 "
         "tokenizer_path=assets/tokenizer.mistral-v1 compile_topology=v6e-256"},
        {"recipes-v6e-gemma3/recipe-gemma3-12b-1xv6e-256", "2025",
         "model_name=gemma3-12b per_device_batch_size=1 num_vocab_tiling=16 "
         "ici_fsdp_parallelism=-1 remat_policy=custom "
         "decoder_layer_input=device query_proj=remat key_proj=remat value_proj=remat "
         "max_target_length=32768 attention=flash "
         "sa_block_q=1024 sa_block_kv=1024 sa_block_kv_compute=1024 sa_block_q_dkv=512 "
         "sa_block_kv_dkv=2048 "
         "sa_block_kv_dkv_compute=512 sa_block_q_dq=1024 sa_block_kv_dq=1024 "
         "compile_topology=v6e-256"},
        {"recipes-v5p-llama3.1/recipe-llama3.1-405b-v5p-1024", "2025",
         "model_name=llama3.1-405b per_device_batch_size=2 ici_fsdp_parallelism=-1 "
         "max_target_length=8192 attention=flash "
         "remat_policy=custom context=offload mlpwo=offload num_vocab_tiling=4 "
         "compile_topology=v5p-1024 " +
             kBlocks2048},
        {"recipes-tpu7x-llama3.1/ironwood-llama3.1-70b-64-bf16", "2025",
         kIronwood70b +
             "sa_block_q=2048 sa_block_kv=2048 sa_block_q_dkv=2048 sa_block_kv_dkv=2048"},
        {"recipes-tpu7x-llama3.1/ironwood-llama3.1-70b-64-fp8", "2025",
         kIronwood70b + "sa_block_q=1024 sa_block_kv=1024 sa_block_q_dkv=2048 sa_block_kv_dkv=2048 "
                        "quantization=fp8_full use_qwix_quantization=True "
                        "weight_quantization_calibration_method='fixed,-224,224' "
                        "act_quantization_calibration_method='fixed,-224,224'"},
        {"recipes-tpu7x-llama3.1/ironwood-llama3.1-405b-256-bf16", "2025",
         "model_name=llama3.1-405b per_device_batch_size=3 ici_fsdp_parallelism=-1 "
         "remat_policy=custom decoder_layer_input=offload "
         "mlpwo=offload key_proj=device value_proj=device attention=flash sa_block_q=2048 "
         "sa_block_kv=2048 sa_block_q_dkv=2048 "
         "sa_block_kv_dkv=2048 sa_use_fused_bwd_kernel=True mu_dtype=bfloat16 num_vocab_tiling=4 "
         "max_target_length=8192 "
         "compile_topology=tpu7x-4x8x8"},
        {"recipes-tpu7x-gpt-oss/ironwood-gpt-oss-120b-64-bf16", "2025",
         "model_name=gpt-oss-120b per_device_batch_size=10.0 max_target_length=8192 "
         "dtype=bfloat16 weight_dtype=float32 use_custom_sort_vjp=True fsdp_shard_on_exp=True "
         "use_tokamax_gmm=True use_random_routing=True remat_policy=custom "
         "decoder_layer_input=offload mlpwo=offload opt_type=adamw megablox=True "
         "sparse_matmul=True use_tokamax_splash=True sa_block_q=1024 sa_block_kv=1024 "
         "sa_block_kv_compute=1024 sa_block_q_dkv=2048 sa_block_kv_dkv=2048 "
         "sa_block_kv_dkv_compute=2048 sa_block_q_dq=2048 sa_block_kv_dq=2048 "
         "sa_use_fused_bwd_kernel=True attention=flash dcn_pipeline_parallelism=1 "
         "dcn_data_parallelism=-1 ici_pipeline_parallelism=1 ici_fsdp_transpose_parallelism=1 "
         "ici_fsdp_parallelism=64 ici_data_parallelism=2 compile_topology=tpu7x-128"},
        {"recipes-tpu7x-deepseek-v3/ironwood-deepseek-v3-256-bf16", "2025",
         "model_name=deepseek3-671b-2dfsdp per_device_batch_size=8.0 max_target_length=4096 "
         "dcn_pipeline_parallelism=1 "
         "dcn_data_parallelism=-1 ici_pipeline_parallelism=1 ici_fsdp_transpose_parallelism=2 "
         "ici_fsdp_parallelism=-1 "
         "allow_split_physical_axes=True remat_policy=custom decoder_layer_input=offload "
         "opt_type=adamw mu_dtype=bfloat16 "
         "grad_dtype=bfloat16 use_random_routing=True megablox=True sparse_matmul=True "
         "use_custom_sort_vjp=True "
         "sa_use_fused_bwd_kernel=True attention=flash "
         "use_tokamax_splash=True use_tokamax_gmm=True compile_topology=tpu7x-4x8x8 " +
             kBlocks2048},
    };
}

std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> all;
    std::string word;
    while (stream >> word) {
        const std::string key = word.substr(0, word.find('='));
        std::erase_if(all, [&](const std::string& had) { return had.starts_with(key + '='); });
        all.push_back(word);
    }
    return all;
}

Scenario imported(const Line& line) {
    const std::string base =
        source_folder() + "/tests/scenarios/import/maxtext/base-" + line.base + ".yml";
    MaxTextSettings settings(maxtext_tree(read_text_file(base), base), words(line.keys));
    const MaxTextImport result = import_maxtext(settings, "imported");
    return load_scenario(handed_over(source_folder(), "imported", result.scenario, true),
                         line.unsaid);
}

class PublishedLines : public ::testing::TestWithParam<int> {};

TEST_P(PublishedLines, GiveThePublishedScenario) {
    const Line line = lines()[static_cast<std::size_t>(GetParam())];
    const Scenario published =
        load_scenario(source_folder() + "/scenarios/published/" + line.published + ".yaml");
    const StepOptions fast{.explain = false};
    const StepResult mine = simulate_step(imported(line), Fold::automatic, fast);
    const StepResult theirs = simulate_step(published, Fold::automatic, fast);
    EXPECT_EQ(mine.step_time.ps, theirs.step_time.ps) << line.published;
    EXPECT_EQ(mine.memory.peak.value(), theirs.memory.peak.value()) << line.published;
}

INSTANTIATE_TEST_SUITE_P(Lines, PublishedLines,
                         ::testing::Range(0, static_cast<int>(lines().size())));

}  // namespace
}  // namespace podsim::scenarios
