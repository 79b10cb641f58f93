#include "scenarios/src/import/maxtext_inference.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "scenarios/src/import/maxtext_defaults.h"

namespace podsim::scenarios {
namespace {

/// A key that a training run leaves as base.yml has it.
struct Mark {
    std::string_view key;
    std::string_view usual;
    std::string_view of = "a run of inference";
};

constexpr std::string_view kCache = "a run that keeps keys and values";
constexpr std::string_view kServer = "a server";
constexpr std::string_view kBenchmark = "a microbenchmark of inference";

/// The plainest first: errors name the first that matches.
constexpr std::array kMarks = std::to_array<Mark>({
    {"model_call_mode", ""},
    {"quantize_kvcache", "false", kCache},
    {"checkpoint_is_quantized", "false", "a run with quantised weights"},
    {"save_quantized_params_path", "", "a run that writes quantised weights"},
    {"replicate_quant_scale", "false", "a run with quantised weights"},
    {"ici_autoregressive_parallelism", "1", "decode"},
    {"dcn_autoregressive_parallelism", "1", "decode"},
    {"ici_context_autoregressive_parallelism", "1", "decode"},
    {"dcn_context_autoregressive_parallelism", "1", "decode"},
    {"max_prefill_predict_length", "64", "prefill"},
    {"load_from_prefill_dir", "false", "prefill"},
    {"prefill_cache_dir", "", "prefill"},
    {"use_chunked_prefill", "false", "prefill"},
    {"prefill_chunk_size", "256", "prefill"},
    {"enable_prefix_caching", "false", kCache},
    {"stack_prefill_result_cache", "false", kCache},
    {"use_ragged_attention", "false", "decode"},
    {"pagedattn_num_pages", "64", kCache},
    {"pagedattn_tokens_per_page", "32", kCache},
    {"pagedattn_pages_per_compute_block", "4", kCache},
    {"pagedattn_max_pages_per_group", "-1", kCache},
    {"autoregressive_decode_assert", "", "decode"},
    {"prompt", "I love to", "decode"},
    {"decode_sampling_strategy", "greedy", "decode"},
    {"decode_sampling_nucleus_p", "-1", "decode"},
    {"decode_sampling_top_k", "0", "decode"},
    {"decode_sampling_temperature", "1.0", "decode"},
    {"inference_microbenchmark_prefill_lengths", "64,128,256,512,1024", kBenchmark},
    {"inference_microbenchmark_stages", "prefill,generate", kBenchmark},
    {"inference_microbenchmark_loop_iters", "10", kBenchmark},
    {"inference_microbenchmark_log_file_path", "", kBenchmark},
    {"inference_microbenchmark_num_samples", "[1,2,3,4,5]", kBenchmark},
    {"inference_metadata_file", "", kBenchmark},
    {"inference_benchmark_test", "false", kBenchmark},
    {"inference_server", "MaxtextInterleavedServer", kServer},
    {"prefill_slice", "v5e-16", kServer},
    {"generate_slice", "v5e-16", kServer},
    {"enable_model_warmup", "false", kServer},
    {"enable_llm_inference_pool", "false", kServer},
    {"multi_sampling", "false", kServer},
    {"return_log_prob", "false", kServer},
    {"vllm_hf_config_path", "", "a server of vLLM"},
    {"vllm_hf_overrides", "{}", "a server of vLLM"},
    {"vllm_additional_config", "{}", "a server of vLLM"},
});

constexpr std::array kKernels =
    std::to_array<std::string_view>({"paged", "vllm_rpa", "vllm_batched_rpa"});

constexpr const char* kRemedy =
    "write a scenario with `inference: {step: decode, batch: 64, context: 2048, weights: int8}` "
    "(or prefill, generate; with `serving:` a server) in place of batch and training "
    "(docs/inference.md); of a training run leave the key out";

[[noreturn]] void refuse(const MaxTextSettings& settings, std::string_view key,
                         std::string_view value, std::string_view of) {
    settings.refuse(std::string(key),
                    fmt::format("{} is of {}, and what is imported is a training step", value, of),
                    kRemedy);
}

/// True for MaxText's own files of inference, inference.yml and inference_jetstream.yml, which
/// differ from base.yml only by their rules.
bool names_inference(const std::string& file) {
    return std::filesystem::path(file).filename().string().starts_with("inference");
}

}  // namespace

bool is_of_inference(const std::string& key) {
    return std::ranges::count(kMarks, key, &Mark::key) > 0;
}

void refuse_maxtext_inference(const MaxTextSettings& settings) {
    for (const Mark& mark : kMarks) {
        const std::string key(mark.key);
        if (!settings.has(key)) {
            continue;
        }
        const std::string said = settings.said(key);
        if (!says_the_same(said, mark.usual) && !says_the_same(said, "")) {
            refuse(settings, key, said, mark.of);
        }
    }
    if (settings.has("attention") && std::ranges::count(kKernels, settings.said("attention")) > 0) {
        refuse(settings, "attention", settings.said("attention"), kCache);
    }
    for (const char* const key : {"base_config", "logical_axis_rules"}) {
        const std::string file = !settings.has(key) ? ""
                                 : key[0] == 'b'    ? settings.said(key)
                                                    : settings.file_of(key);
        if (names_inference(file)) {
            refuse(settings, key, file, "a run of inference");
        }
    }
}

}  // namespace podsim::scenarios
