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
    bool gated_mlp = true;         ///< three MLP matrices (gate, up, down) instead of two
    bool tied_embeddings = false;  ///< one table serves as embedding and unembedding
    std::int64_t published_parameters =
        0;  ///< the published count, which the shapes must give; 0: none known
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

/// Largest accepted values. Within them every parameter count fits 64 bits: a layer has at most
/// D H (2 N + 2 K) + 3 D F < 2^49 parameters, all layers < 2^61, the two tables 2^45.
struct ModelLimits {
    static constexpr std::int64_t layers = 1LL << 12;
    static constexpr std::int64_t d_model = 1LL << 20;
    static constexpr std::int64_t d_ff = 1LL << 22;
    static constexpr std::int64_t heads = 1LL << 14;
    static constexpr std::int64_t head_dim = 1LL << 12;
    static constexpr std::int64_t vocabulary = 1LL << 24;
};

/// Checks every field and their relations: each from 1 to its limit, K divides N.
/// Throws sim::InputError naming the field, its value and what is allowed.
void validate(const ModelSpec& model);

/// Reads a Hugging Face `config.json`: model_type llama or mistral, without sliding window or
/// biases.
///   hidden_size D, intermediate_size F, num_hidden_layers L, num_attention_heads N, vocab_size V,
///   num_key_value_heads K (default N), head_dim H (default D / N), tie_word_embeddings (default
///   false)
/// Throws sim::InputError at file:line:column: bad JSON, a wrong key at the key, a missing one at 1:1
/// with the key that may be a slip of it, an architecture by what of it is not modelled.
ModelSpec read_hf_config(const std::string& path);

}  // namespace podsim::workloads
