// Files and command lines of inference are refused at the key that shows it: every key that
// MaxText's scripts of decode, of its servers and microbenchmarks set and its training commands
// do not.
#include <filesystem>
#include <gmock/gmock.h>
#include <string>
#include <utility>
#include <vector>

#include "tests/scenarios/import/maxtext_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using MaxTextInference = MaxText;

constexpr const char* kRemedy =
    "write a scenario with `inference: {step: decode, batch: 64, context: 2048, weights: int8}` "
    "(or prefill, generate; with `serving:` a server) in place of batch and training "
    "(docs/inference.md); of a training run leave the key out";

// Sources: tests/end_to_end/tpu/test_decode_load_quantized_ckpt.sh,
// src/maxtext/inference/mlperf/trillium/microbenchmarks_llama2-70b-trillium_2x4.sh and others.
TEST_F(MaxTextInference, EveryKeyOfOneRefusesAlone) {
    const std::vector<std::pair<std::string, std::string>> keys{
        {"model_call_mode=inference", "a run of inference"},
        {"checkpoint_is_quantized=True", "a run with quantised weights"},
        {"save_quantized_params_path=gs://bucket/q", "a run that writes quantised weights"},
        {"replicate_quant_scale=true", "a run with quantised weights"},
        {"quantize_kvcache=true", "a run that keeps keys and values"},
        {"max_prefill_predict_length=1024", "prefill"},
        {"prefill_cache_dir=gs://bucket/cache", "prefill"},
        {"load_from_prefill_dir=true", "prefill"},
        {"use_chunked_prefill=true", "prefill"},
        {"enable_prefix_caching=true", "a run that keeps keys and values"},
        {"stack_prefill_result_cache=true", "a run that keeps keys and values"},
        {"attention=paged", "a run that keeps keys and values"},
        {"attention=vllm_rpa", "a run that keeps keys and values"},
        {"attention=vllm_batched_rpa", "a run that keeps keys and values"},
        {"pagedattn_num_pages=2048", "a run that keeps keys and values"},
        {"use_ragged_attention=true", "decode"},
        {"ici_autoregressive_parallelism=4", "decode"},
        {"ici_context_autoregressive_parallelism=8", "decode"},
        {"autoregressive_decode_assert=read", "decode"},
        {"prompt=Today is", "decode"},
        {"decode_sampling_strategy=nucleus", "decode"},
        {"inference_microbenchmark_prefill_lengths=1024", "a microbenchmark of inference"},
        {"inference_microbenchmark_stages=generate", "a microbenchmark of inference"},
        {"inference_benchmark_test=true", "a microbenchmark of inference"},
        {"inference_server=ExperimentalMaxtextDisaggregatedServer", "a server"},
        {"prefill_slice=v6e-16", "a server"},
        {"enable_model_warmup=true", "a server"},
        {"return_log_prob=true", "a server"},
        {"vllm_hf_config_path=meta-llama/Llama-3.1-8B", "a server of vLLM"}};
    for (const auto& [setting, of] : keys) {
        const std::size_t sign = setting.find('=');
        refused({"model_name=llama3.1-8b", setting},
                setting + ": " + setting.substr(0, sign) + ": " + setting.substr(sign + 1) +
                    " is of " + of + ", and what is imported is a training step; " + kRemedy);
    }
}

// A training file has all of these keys, as in base.yml.
TEST_F(MaxTextInference, WhatBaseYmlSaysIsATrainingRun) {
    const Outcome outcome = import(
        {"model_name=llama3.1-8b", "model_call_mode=", "quantize_kvcache=false",
         "max_prefill_predict_length=64", "inference_microbenchmark_num_samples=[1,2,3,4,5]",
         "decode_sampling_temperature=1.", "prompt=I love to", "ici_autoregressive_parallelism=1",
         "kv_quant_axis=heads_and_dkv", "inference_server=MaxtextInterleavedServer"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
}

TEST_F(MaxTextInference, FilesAreRefusedAtTheirLine) {
    std::filesystem::create_directories(path("configs/inference"));
    write("per_device_batch_size: 4\n", "configs/base.yml");
    const std::string server =
        write("base_config: base.yml\nlogical_axis_rules: []\nenable_model_warmup: false\n",
              "configs/inference/inference_jetstream.yml");
    const std::string upon =
        write("base_config: inference/inference_jetstream.yml\n", "configs/llama2_70b_v5e-16.yml");
    const std::string vllm =
        write("per_device_batch_size: 1\nmodel_call_mode: \"inference\"\n", "configs/vllm.yml");
    const std::vector<std::string> rest{"model_name=llama2-70b", "compile_topology=v5e-16"};
    const std::vector<std::pair<std::string, std::string>> files{
        {server, "configs/inference/inference_jetstream.yml:2:1: logical_axis_rules: "},
        {upon,
         "configs/llama2_70b_v5e-16.yml:1:1: base_config: inference/inference_jetstream.yml "
         "is of a run of inference"},
        {vllm, "configs/vllm.yml:2:1: model_call_mode: inference is of a run of inference"}};
    for (const auto& [file, message] : files) {
        std::vector<std::string> args{"import", "maxtext", file};
        args.insert(args.end(), rest.begin(), rest.end());
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_THAT(plain(outcome.err), StartsWith(message));
        EXPECT_THAT(outcome.err, HasSubstr("`inference: {step: decode"));
    }
}

}  // namespace
}  // namespace podsim::scenarios
