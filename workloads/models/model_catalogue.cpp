// The models that podsim knows by name. A test derives every published parameter count from the
// shapes.
#include <array>
#include <string>
#include <vector>

#include "sim/base/nearest.h"
#include "workloads/models/model.h"

namespace podsim::workloads {
namespace {

constexpr std::size_t kLongestNameShown = 80;  // of a name in a message

const char* const kGemma3Large =
    "Gemma 3 Technical Report, 2025, table 1 (in millions; its embeddings have 0.5 % more than "
    "262144 "
    "rows); config.json, text_config, of huggingface.co/google/gemma-3-12b-pt and gemma-3-27b-pt";

// NOLINTNEXTLINE(readability-function-size): one table
const std::array<ModelSpec, 19>& models() {
    static const std::array<ModelSpec, 19> catalogue{{
        {.name = "llama-2-7b",
         .source = "Touvron et al., Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023; "
                   "config.json and parameter count of huggingface.co/meta-llama/Llama-2-7b-hf",
         .layers = 32,
         .d_model = 4096,
         .d_ff = 11008,
         .heads = 32,
         .kv_heads = 32,
         .head_dim = 128,
         .vocabulary = 32000,
         .published_parameters = 6'738'415'616},
        {.name = "llama-2-13b",
         .source = "Touvron et al., Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023; "
                   "config.json and parameter count of huggingface.co/meta-llama/Llama-2-13b-hf",
         .layers = 40,
         .d_model = 5120,
         .d_ff = 13824,
         .heads = 40,
         .kv_heads = 40,
         .head_dim = 128,
         .vocabulary = 32000,
         .published_parameters = 13'015'864'320},
        {.name = "llama-2-70b",
         .source = "Touvron et al., Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023; "
                   "config.json and parameter count of huggingface.co/meta-llama/Llama-2-70b-hf",
         .layers = 80,
         .d_model = 8192,
         .d_ff = 28672,
         .heads = 64,
         .kv_heads = 8,
         .head_dim = 128,
         .vocabulary = 32000,
         .published_parameters = 68'976'648'192},
        {.name = "llama-3-8b",
         .source = "The Llama 3 Herd of Models, 2024, table 3; config.json and parameter count of "
                   "huggingface.co/meta-llama/Meta-Llama-3-8B",
         .layers = 32,
         .d_model = 4096,
         .d_ff = 14336,
         .heads = 32,
         .kv_heads = 8,
         .head_dim = 128,
         .vocabulary = 128256,
         .published_parameters = 8'030'261'248},
        {.name = "llama-3-70b",
         .source =
             "The Llama 3 Herd of Models, 2024, table 3; config.json and parameter count of "
             "huggingface.co/meta-llama/Meta-Llama-3-70B; How to Scale Your Model, 2025, section 6",
         .layers = 80,
         .d_model = 8192,
         .d_ff = 28672,
         .heads = 64,
         .kv_heads = 8,
         .head_dim = 128,
         .vocabulary = 128256,
         .published_parameters = 70'553'706'496},
        {.name = "llama-3-405b",
         .source = "The Llama 3 Herd of Models, 2024, table 3; config.json and parameter count of "
                   "huggingface.co/meta-llama/Llama-3.1-405B",
         .layers = 126,
         .d_model = 16384,
         .d_ff = 53248,
         .heads = 128,
         .kv_heads = 8,
         .head_dim = 128,
         .vocabulary = 128256,
         .published_parameters = 405'853'388'800},
        {.name = "gemma-2b",
         .source =
             "Gemma: Open Models Based on Gemini Research and Technology, 2024, tables 1 and 2",
         .layers = 18,
         .d_model = 2048,
         .d_ff = 16384,
         .heads = 8,
         .kv_heads = 1,
         .head_dim = 256,
         .vocabulary = 256128,
         .tied_embeddings = true,
         .published_parameters = 2'506'434'560},
        {.name = "gemma-7b",
         .source =
             "Gemma: Open Models Based on Gemini Research and Technology, 2024, tables 1 and 2",
         .layers = 28,
         .d_model = 3072,
         .d_ff = 24576,
         .heads = 16,
         .kv_heads = 16,
         .head_dim = 256,
         .vocabulary = 256128,
         .tied_embeddings = true,
         .published_parameters = 8'538'074'112},
        {.name = "gemma-2-9b",
         .source =
             "Gemma 2: Improving Open Language Models at a Practical Size, 2024, tables 1 and 2",
         .layers = 42,
         .d_model = 3584,
         .d_ff = 14336,
         .heads = 16,
         .kv_heads = 8,
         .head_dim = 256,
         .vocabulary = 256128,
         .tied_embeddings = true,
         .norms = 4,
         .window = 4096,
         .global_every = 2,
         .published_parameters = 9'242'164'736},
        {.name = "gemma-2-27b",
         .source =
             "Gemma 2: Improving Open Language Models at a Practical Size, 2024, tables 1 and 2",
         .layers = 46,
         .d_model = 4608,
         .d_ff = 36864,
         .heads = 32,
         .kv_heads = 16,
         .head_dim = 128,
         .vocabulary = 256128,
         .tied_embeddings = true,
         .norms = 4,
         .window = 4096,
         .global_every = 2,
         .published_parameters = 27'227'718'144},
        {.name = "gemma-3-1b",
         .source = "Gemma 3 Technical Report, 2025, table 1; config.json and parameter count of "
                   "huggingface.co/google/gemma-3-1b-pt",
         .layers = 26,
         .d_model = 1152,
         .d_ff = 6912,
         .heads = 4,
         .kv_heads = 1,
         .head_dim = 256,
         .vocabulary = 262144,
         .tied_embeddings = true,
         .norms = 4,
         .qk_norm = true,
         .window = 512,
         .global_every = 6,
         .published_parameters = 999'885'952},
        {.name = "gemma-3-12b",
         .source = kGemma3Large,
         .layers = 48,
         .d_model = 3840,
         .d_ff = 15360,
         .heads = 16,
         .kv_heads = 8,
         .head_dim = 256,
         .vocabulary = 262144,
         .tied_embeddings = true,
         .norms = 4,
         .qk_norm = true,
         .window = 1024,
         .global_every = 6,
         .published_parameters = 11'771'000'000,
         .published_rounding = 6'000'000},
        {.name = "gemma-3-27b",
         .source = kGemma3Large,
         .layers = 62,
         .d_model = 5376,
         .d_ff = 21504,
         .heads = 32,
         .kv_heads = 16,
         .head_dim = 128,
         .vocabulary = 262144,
         .tied_embeddings = true,
         .norms = 4,
         .qk_norm = true,
         .window = 1024,
         .global_every = 6,
         .published_parameters = 27'016'000'000,
         .published_rounding = 8'000'000},
        {.name = "mistral-7b",
         .source = "Jiang et al., Mistral 7B, 2023, table 1; config.json and parameter count of "
                   "huggingface.co/mistralai/Mistral-7B-v0.1",
         .layers = 32,
         .d_model = 4096,
         .d_ff = 14336,
         .heads = 32,
         .kv_heads = 8,
         .head_dim = 128,
         .vocabulary = 32000,
         .window = 4096,
         .published_parameters = 7'241'732'096},
        {.name = "mixtral-8x7b",
         .source = "Jiang et al., Mixtral of Experts, 2024, table 1; config.json and parameter "
                   "count of huggingface.co/mistralai/Mixtral-8x7B-v0.1",
         .layers = 32,
         .d_model = 4096,
         .d_ff = 14336,
         .heads = 32,
         .kv_heads = 8,
         .head_dim = 128,
         .vocabulary = 32000,
         .experts = {.count = 8, .per_token = 2, .d_ff = 14336},
         .published_parameters = 46'702'792'704},
        {.name = "mixtral-8x22b",
         .source = "Mistral AI, Cheaper, Better, Faster, Stronger, 2024 (141 billion, 39 billion "
                   "active); "
                   "config.json of huggingface.co/mistralai/Mixtral-8x22B-v0.1",
         .layers = 56,
         .d_model = 6144,
         .d_ff = 16384,
         .heads = 48,
         .kv_heads = 8,
         .head_dim = 128,
         .vocabulary = 32000,
         .experts = {.count = 8, .per_token = 2, .d_ff = 16384},
         .published_parameters = 141'000'000'000,
         .published_rounding = 500'000'000},
        {.name = "gpt-3-175b",
         .source = "Brown et al., Language Models are Few-Shot Learners, 2020, table 2.1; count in "
                   "millions of table D.1; vocabulary and biases as in GPT-2",
         .layers = 96,
         .d_model = 12288,
         .d_ff = 49152,
         .heads = 96,
         .kv_heads = 96,
         .head_dim = 128,
         .vocabulary = 50257,
         .gated_mlp = false,
         .tied_embeddings = true,
         .norm = Norm::layer,
         .qkv_bias = true,
         .out_bias = true,
         .mlp_bias = true,
         .positions = 2048,
         .published_parameters = 174'600'000'000,
         .published_rounding = 50'000'000},
        {.name = "palm-540b",
         .source = "Chowdhery et al., PaLM: Scaling Language Modeling with Pathways, 2022, table 1 "
                   "(540.35 billion; the norms that all three sizes would have add 0.002)",
         .layers = 118,
         .d_model = 18432,
         .d_ff = 73728,
         .heads = 48,
         .kv_heads = 1,
         .head_dim = 256,
         .vocabulary = 256000,
         .tied_embeddings = true,
         .parallel_block = true,
         .norms = 1,
         .published_parameters = 540'350'000'000,
         .published_rounding = 10'000'000},
        {.name = "deepseek-v3",
         .source = "DeepSeek-V3 Technical Report, 2024, section 4.2 (671 billion, 37 billion "
                   "active); config.json and tensors of huggingface.co/deepseek-ai/DeepSeek-V3, "
                   "without the multi-token prediction module",
         .layers = 61,
         .d_model = 7168,
         .d_ff = 18432,
         .heads = 128,
         .kv_heads = 128,
         .head_dim = 192,
         .vocabulary = 129280,
         .latent = {.q_rank = 1536, .kv_rank = 512, .rope_dim = 64, .value_dim = 128},
         .experts = {.count = 256,
                     .per_token = 8,
                     .shared = 1,
                     .d_ff = 2048,
                     .first_dense = 3,
                     .router_bias = true},
         .published_parameters = 671'026'419'200},
    }};
    return catalogue;
}

}  // namespace

std::span<const ModelSpec> model_catalogue() {
    return models();
}

const ModelSpec& find_model(std::string_view name) {
    std::vector<std::string> names;
    for (const ModelSpec& model : models()) {
        if (model.name == name) {
            return model;
        }
        names.push_back(model.name);
    }
    throw sim::unknown_name("model", name.substr(0, kLongestNameShown), names);
}

}  // namespace podsim::workloads
