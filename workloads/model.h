// Decoder transformers as hyperparameters; everything else is derived from the shapes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace podsim::workloads {

/// Symbols as in the reference text: L layers, D model width, F feed-forward width, N query heads,
/// K key/value heads, H head width, V vocabulary.
struct ModelSpec {
    std::string name;
    std::string source;  ///< the document the hyperparameters come from
    std::int64_t layers = 0;
    std::int64_t d_model = 0;
    std::int64_t d_ff = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;
    std::int64_t vocabulary = 0;
    bool gated_mlp = true;        ///< three MLP matrices (gate, up, down) instead of two
    bool tied_embeddings = false; ///< one table serves as embedding and unembedding
};

/// Parameters by part, exact. Norms: two vectors of D a layer and one at the end.
struct ParameterCount {
    std::int64_t attention_per_layer = 0;  ///< D H (2 N + 2 K)
    std::int64_t mlp_per_layer = 0;        ///< 3 D F gated, 2 D F plain
    std::int64_t norms_per_layer = 0;      ///< 2 D
    std::int64_t embedding = 0;            ///< V D
    std::int64_t unembedding = 0;          ///< V D; 0 when tied
    std::int64_t final_norm = 0;           ///< D
    std::int64_t total = 0;

    [[nodiscard]] std::int64_t per_layer() const {
        return attention_per_layer + mlp_per_layer + norms_per_layer;
    }
};
ParameterCount count_parameters(const ModelSpec& model);

/// Training FLOPs of one token.
struct FlopsPerToken {
    double parameters = 0;  ///< 6 x (all parameters)
    double attention = 0;   ///< 12 S N H L, halved when causal (S = sequence length)
    [[nodiscard]] double total() const { return parameters + attention; }
};
FlopsPerToken training_flops_per_token(const ModelSpec& model, std::int64_t sequence, bool causal);

/// The models podsim knows, by name.
std::span<const ModelSpec> model_catalogue();
/// Throws sim::InputError with the nearest valid name.
const ModelSpec& find_model(std::string_view name);

/// Checks every field and their relations (K divides N, all positive). Throws sim::InputError.
void validate(const ModelSpec& model);

/// Reads a Hugging Face `config.json` (model_type llama or mistral without sliding window). Throws sim::InputError that
/// names the file and the missing key or the unknown architecture.
ModelSpec read_hf_config(const std::string& path);

}  // namespace podsim::workloads
