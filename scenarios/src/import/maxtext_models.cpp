#include "scenarios/src/import/maxtext_models.h"

#include <algorithm>
#include <array>

namespace podsim::scenarios {
namespace {

constexpr std::string_view kGpt3 =
    "opt_type=adam_pax gradient_clipping_threshold=1.0 logits_dot_in_fp32=false fused_qkv=true";
constexpr std::string_view kGpt3OfLessTokens =
    "opt_type=adam_pax gradient_clipping_threshold=1.0 logits_dot_in_fp32=false fused_qkv=true "
    "max_target_length=1024";

/// MaxText pads the vocabularies of GPT-3 and Mixtral 8x22B (configs/models/gpt3-175b.yml,
/// mixtral-8x22b.yml).
constexpr std::array kModels = std::to_array<MaxTextNamedModel>({
    {"llama2-7b", "llama-2-7b"},
    {"llama2-13b", "llama-2-13b"},
    {"llama2-70b", "llama-2-70b"},
    {"llama3-8b", "llama-3-8b"},
    {"llama3-70b", "llama-3-70b"},
    {"llama3-405b", "llama-3-405b"},
    {"llama3.1-8b", "llama-3-8b"},
    {"llama3.1-70b", "llama-3-70b"},
    {"llama3.1-405b", "llama-3-405b"},
    {"llama3.3-70b", "llama-3-70b"},
    {"gemma-2b", "gemma-2b"},
    {"gemma-7b", "gemma-7b"},
    {"gemma2-9b", "gemma-2-9b"},
    {"gemma2-27b", "gemma-2-27b"},
    {"gemma3-12b", "gemma-3-12b"},
    {"gemma3-27b", "gemma-3-27b"},
    {"mistral-7b", "{base: mistral-7b, window: 0}"},  // models/mistral.py: every layer sees all
    {"mixtral-8x7b", "mixtral-8x7b"},
    {"mixtral-8x22b", "{base: mixtral-8x22b, vocabulary: 32768}"},
    {"gpt3-175b", "{base: gpt-3-175b, vocabulary: 50304, positions: 16384}", kGpt3},
    {"gpt3-6b",
     "{base: gpt-3-175b, name: gpt3-6b, layers: 48, d_model: 3072, d_ff: 12288, heads: 12, "
     "kv_heads: 12, head_dim: 256, vocabulary: 32768, positions: 16384}",
     kGpt3OfLessTokens},
    {"gpt3-22b",
     "{base: gpt-3-175b, name: gpt3-22b, layers: 48, d_model: 6144, d_ff: 24576, heads: 24, "
     "kv_heads: 24, head_dim: 256, vocabulary: 32768, positions: 16384}",
     kGpt3OfLessTokens},
    {"deepseek3-671b", "deepseek-v3"},
    {"deepseek3-671b-2dfsdp", "deepseek-v3", {}, true},
    {"gpt-oss-20b",
     "{name: gpt-oss-20b, layers: 24, d_model: 2880, d_ff: 2880, heads: 64, kv_heads: 8, head_dim: "
     "64, vocabulary: 201088, window: 128, "
     "global_every: 2, biases: all, sinks: true, experts: {count: 32, per_token: 4, d_ff: 2880, "
     "router_bias: true}}"},
    {"gpt-oss-120b",
     "{name: gpt-oss-120b, layers: 36, d_model: 2880, d_ff: 2880, heads: 64, kv_heads: 8, "
     "head_dim: 64, vocabulary: 201088, window: 128, "
     "global_every: 2, biases: all, sinks: true, experts: {count: 128, per_token: 4, d_ff: 2880, "
     "router_bias: true}}"},
    {"qwen2.5-1.5b",
     "{name: qwen2.5-1.5b, layers: 28, d_model: 1536, d_ff: 8960, heads: 12, kv_heads: 2, "
     "head_dim: 128, vocabulary: 151936, tied_embeddings: true, biases: qkv}"},
    {"qwen2.5-7b",
     "{name: qwen2.5-7b, layers: 28, d_model: 3584, d_ff: 18944, heads: 28, kv_heads: 4, "
     "head_dim: 128, vocabulary: 152064, biases: qkv}"},
    {"qwen2.5-14b",
     "{name: qwen2.5-14b, layers: 48, d_model: 5120, d_ff: 13824, heads: 40, kv_heads: 8, "
     "head_dim: 128, vocabulary: 152064, biases: qkv}"},
    {"qwen3-0.6b",
     "{name: qwen3-0.6b, layers: 28, d_model: 1024, d_ff: 3072, heads: 16, kv_heads: 8, head_dim: "
     "128, vocabulary: 151936, tied_embeddings: true, qk_norm: true}"},
    {"qwen3-1.7b",
     "{name: qwen3-1.7b, layers: 28, d_model: 2048, d_ff: 6144, heads: 16, kv_heads: 8, head_dim: "
     "128, vocabulary: 151936, tied_embeddings: true, qk_norm: true}"},
    {"qwen3-4b",
     "{name: qwen3-4b, layers: 36, d_model: 2560, d_ff: 9728, heads: 32, kv_heads: 8, head_dim: "
     "128, vocabulary: 151936, tied_embeddings: true, qk_norm: true}"},
    {"qwen3-8b",
     "{name: qwen3-8b, layers: 36, d_model: 4096, d_ff: 12288, heads: 32, kv_heads: 8, head_dim: "
     "128, vocabulary: 151936, qk_norm: true}"},
    {"qwen3-14b",
     "{name: qwen3-14b, layers: 40, d_model: 5120, d_ff: 17408, heads: 40, kv_heads: 8, head_dim: "
     "128, vocabulary: 151936, qk_norm: true}"},
    {"qwen3-32b",
     "{name: qwen3-32b, layers: 64, d_model: 5120, d_ff: 25600, heads: 64, kv_heads: 8, head_dim: "
     "128, vocabulary: 151936, qk_norm: true}"},
    {"qwen3-30b-a3b",
     "{name: qwen3-30b-a3b, layers: 48, d_model: 2048, d_ff: 768, heads: 32, kv_heads: 4, "
     "head_dim: 128, vocabulary: 151936, qk_norm: true, experts: {count: 128, per_token: 8, d_ff: "
     "768}}"},
    {"qwen3-235b-a22b",
     "{name: qwen3-235b-a22b, layers: 94, d_model: 4096, d_ff: 1536, heads: 64, kv_heads: 4, "
     "head_dim: 128, vocabulary: 151936, qk_norm: true, experts: {count: 128, per_token: 8, d_ff: "
     "1536}}"},
    {"qwen3-480b-a35b",
     "{name: qwen3-480b-a35b, layers: 62, d_model: 6144, d_ff: 2560, heads: 96, kv_heads: 8, "
     "head_dim: 128, vocabulary: 151936, qk_norm: true, experts: {count: 160, per_token: 8, d_ff: "
     "2560}}"},
    {"gemma2-2b",
     "{base: gemma-2-9b, name: gemma-2-2b, layers: 26, d_model: 2304, d_ff: 9216, heads: 8, "
     "kv_heads: 4, vocabulary: 256128}"},
    {"gemma3-4b",
     "{base: gemma-3-12b, name: gemma-3-4b, layers: 34, d_model: 2560, d_ff: 10240, heads: 8, "
     "kv_heads: 4}"},
    {"gemma4-31b",
     "{name: gemma4-31b, layers: 60, d_model: 5376, d_ff: 21504, heads: 32, kv_heads: 16, "
     "head_dim: 256, vocabulary: 262144, tied_embeddings: true, norms: 4, qk_norm: true, v_norm: "
     "true, window: 1024, global_every: 6, global: {kv_heads: 4, head_dim: 512, shared_kv: true}}"},
    {"gemma4-26b",
     "{name: gemma4-26b, layers: 30, d_model: 2816, d_ff: 2112, heads: 16, kv_heads: 8, head_dim: "
     "256, vocabulary: 262144, tied_embeddings: true, norms: 4, qk_norm: true, v_norm: true, "
     "window: 1024, global_every: 6, global: {kv_heads: 2, head_dim: 512, shared_kv: true}, "
     "experts: {count: 128, per_token: 8, shared: 1, d_ff: 704, shared_d_ff: 2112}}"},
    {"deepseek2-16b",
     "{name: deepseek2-16b, layers: 27, d_model: 2048, d_ff: 10944, heads: 16, kv_heads: 16, "
     "head_dim: 192, vocabulary: 102400, latent: {q_rank: 0, kv_rank: 512, rope_dim: 64, "
     "value_dim: 128}, experts: {count: 64, per_token: 6, shared: 2, d_ff: 1408, first_dense: 1}}"},
    {"deepseek2-236b",
     "{name: deepseek2-236b, layers: 60, d_model: 5120, d_ff: 12288, heads: 128, kv_heads: 128, "
     "head_dim: 192, vocabulary: 102400, latent: {q_rank: 1536, kv_rank: 512, rope_dim: 64, "
     "value_dim: 128}, experts: {count: 160, per_token: 6, shared: 2, d_ff: 1536, first_dense: "
     "1}}"},
    {"kimi-k2-1t",
     "{name: kimi-k2-1t, layers: 61, d_model: 7168, d_ff: 18432, heads: 64, kv_heads: 64, "
     "head_dim: 192, vocabulary: 163840, latent: {q_rank: 1536, kv_rank: 512, rope_dim: 64, "
     "value_dim: 128}, experts: {count: 384, per_token: 8, shared: 1, d_ff: 2048, first_dense: 1, "
     "router_bias: true}}"},
    {"llama4-17b-16e",
     "{name: llama4-17b-16e, layers: 48, d_model: 5120, d_ff: 8192, heads: 40, kv_heads: 8, "
     "head_dim: 128, vocabulary: 202048, chunk: 8192, experts: {count: 16, per_token: 1, shared: "
     "1, d_ff: 8192, every: 1}}"},
    {"llama4-17b-128e",
     "{name: llama4-17b-128e, layers: 48, d_model: 5120, d_ff: 16384, heads: 40, kv_heads: 8, "
     "head_dim: 128, vocabulary: 202048, chunk: 8192, experts: {count: 128, per_token: 1, shared: "
     "1, d_ff: 8192, every: 2}}"},
    {"olmo3-7b",
     "{name: olmo3-7b, layers: 32, d_model: 4096, d_ff: 11008, heads: 32, kv_heads: 32, head_dim: "
     "128, vocabulary: 100278, window: 4096, global_every: 4, qk_norm: true, qk_norm_of_heads: "
     "true}"},
    {"olmo3-32b",
     "{name: olmo3-32b, layers: 64, d_model: 5120, d_ff: 27648, heads: 40, kv_heads: 8, head_dim: "
     "128, vocabulary: 100278, window: 4096, global_every: 4, qk_norm: true, qk_norm_of_heads: "
     "true}"},
});

/// An end of a name that changes nothing of a step: files of other weights, positions or
/// tokenizers.
struct OtherName {
    std::string_view family;  ///< beginning of the name
    std::string_view end;
};
constexpr std::array kOtherNames = std::to_array<OtherName>({
    {"", ""},
    {"", "-Instruct"},
    {"qwen3", "-base"},
    {"qwen3-4b", "-thinking-2507"},
    {"olmo3-7b", "-pt"},
});

struct Lacking {
    std::string_view family;
    std::string_view why;
};
constexpr std::array kLacking = std::to_array<Lacking>({
    {"deepseek-custom", "sparse attention with an index"},
    {"deepseek3.2", "sparse attention with an index"},
    {"deepseek3-671b-batchsplit", "a batch that is split within a layer"},
    {"deepseek4", "compressed attention, and streams beside the residual one"},
    {"gemma4-e", "embeddings of every layer, and layers with the keys and values of others"},
    {"qwen3-custom-30b-a3b", "experts of another width than the layer"},
    {"qwen3-next", "linear attention"},
    {"qwen3-omni", "encoders"},
    {"qwen3-vl", "an encoder"},
    {"qwen3.5", "linear attention"},
});

}  // namespace

std::span<const MaxTextNamedModel> maxtext_models() {
    return kModels;
}

const MaxTextNamedModel* find_maxtext_model(std::string_view name) {
    for (const MaxTextNamedModel& model : kModels) {
        for (const OtherName& other : kOtherNames) {
            if (model.name.starts_with(other.family) && name.starts_with(model.name) &&
                name.substr(model.name.size()) == other.end) {
                return &model;
            }
        }
    }
    return nullptr;
}

std::string_view maxtext_model_lacks(std::string_view name) {
    const auto* const found = std::ranges::find_if(
        kLacking, [&](const Lacking& each) { return name.starts_with(each.family); });
    return found == kLacking.end() ? "" : found->why;
}

}  // namespace podsim::scenarios
