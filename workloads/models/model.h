// Decoder transformers as hyperparameters; everything else is derived from the shapes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace podsim::sim {
class InputFaults;
}  // namespace podsim::sim

namespace podsim::workloads {

/// The MLPs of layers with experts: a router (D x count, and `count` values if it has a bias), the
/// routed experts, of which each token takes `per_token`, and shared experts that every token
/// takes. Each is a gated (or plain) MLP of width d_ff; a gate of the shared ones is one more
/// column of the router.
struct Experts {
    std::int64_t count = 0;  ///< routed experts; 0: the model has none
    std::int64_t per_token = 0;
    std::int64_t shared = 0;
    std::int64_t d_ff = 0;
    std::int64_t first_dense = 0;  ///< layers at the start with the dense MLP
    std::int64_t every = 1;        ///< after them, the last of every `every` layers has experts
    bool router_bias = false;
    std::int64_t shared_d_ff = 0;  ///< width of a shared expert; 0: d_ff
    bool shared_gate = false;      ///< a token weighs the output of the shared experts
    /// Returns the columns of all shared experts.
    [[nodiscard]] std::int64_t shared_columns() const {
        return shared * (shared_d_ff > 0 ? shared_d_ff : d_ff);
    }
    bool operator==(const Experts&) const = default;
};

/// Multi-head latent attention (DeepSeek-V2, 2024). Queries are projected from a vector of q_rank,
/// keys and values from one of kv_rank; rope_dim of the H columns of a key are shared by all heads.
/// It is computed with complete keys and values, as in training. Both latent vectors are normed.
struct LatentAttention {
    std::int64_t q_rank = 0;   ///< 0: queries are projected directly
    std::int64_t kv_rank = 0;  ///< 0: the model has plain attention
    std::int64_t rope_dim = 0;
    std::int64_t value_dim = 0;  ///< width of a head's values and output
    bool operator==(const LatentAttention&) const = default;
};

/// Sizes of attention in global layers, if they differ from those of local ones (Gemma 4, 2026).
struct GlobalAttention {
    std::int64_t kv_heads = 0;  ///< 0: as in local layers
    std::int64_t head_dim = 0;  ///< 0: as in local layers
    bool shared_kv = false;     ///< as ModelSpec::shared_kv, for global layers alone
    bool operator==(const GlobalAttention&) const = default;
};

/// One vector of D; two (scale and bias); none. A layer norm without bias counts as rms.
enum class Norm { rms, layer, bare };

/// Bytes of a parameter as a file stores the model's weights, if it says so (quantization_config).
/// They count scales and zero points, and are means over the parameters of each field.
struct StoredWeights {
    /// Layers without routed experts; 0: the file says nothing, or nothing that podsim understands.
    double dense = 0;
    double experts = 0;     ///< routed
    double tables = 0;      ///< embeddings, positions, unembedding, and the last norm
    std::string how{};      ///< `compressed-tensors, 4 bits in groups of 32`
    std::string unknown{};  ///< why podsim does not understand it
    std::string place{};    ///< `config.json:12:3`
    [[nodiscard]] bool known() const { return dense > 0; }
    friend bool operator==(const StoredWeights&, const StoredWeights&) = default;
};

/// Symbols are those of the reference text: L layers, D model width, F feed-forward width, N query
/// heads, K key/value heads, H head width, V vocabulary.
struct ModelSpec {
    std::string name;
    std::string source;  ///< the document of the hyperparameters
    std::int64_t layers = 0;
    std::int64_t d_model = 0;
    std::int64_t d_ff = 0;  ///< of the dense MLP
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;  ///< of queries and keys; of values too unless attention is latent
    std::int64_t vocabulary = 0;
    bool gated_mlp = true;         ///< three MLP matrices (gate, up, down) instead of two
    bool tied_embeddings = false;  ///< one table serves as embedding and unembedding
    /// Attention and MLP both read the layer's normed input, and their outputs are added to it
    /// together.
    bool parallel_block = false;
    Norm norm = Norm::rms;
    /// Norms of width D in a layer (4: outputs of both blocks are normed too).
    std::int64_t norms = 2;
    bool qk_norm = false;           ///< queries and keys are normed, two vectors of H a layer
    bool qk_norm_of_heads = false;  ///< and every head has a vector of its own: (N + K) H
    bool v_norm = false;            ///< values are normed too, without a vector
    /// Keys and values are one projection, of which keys are then normed and rotated: D K H
    /// parameters fewer.
    bool shared_kv = false;
    bool qkv_bias = false;          ///< (N + 2 K) H
    bool out_bias = false;          ///< D
    bool mlp_bias = false;          ///< 2 F + D gated, F + D plain; every expert has them too
    bool sinks = false;             ///< a learned logit for every query head, N a layer
    bool unembedding_bias = false;  ///< V
    std::int64_t positions = 0;     ///< rows of a learned position table; 0: rotary or none
    std::int64_t window = 0;  ///< local attention: a query sees the last `window` keys; 0: all
    /// The last of every `global_every` layers sees all keys in spite of the window; 0: none does.
    std::int64_t global_every = 0;
    /// Local attention within chunks of `chunk` tokens, which no sequence may exceed; 0: none.
    std::int64_t chunk = 0;
    GlobalAttention global{};
    LatentAttention latent{};
    Experts experts{};
    /// Layers after the last that predict further tokens in training (multi-token prediction;
    /// DeepSeek-V3, 2024, eq. 21 to 23). Each is like the last layer, with a 2 D x D projection of
    /// two normed rows before it, and the model's own tables.
    std::int64_t mtp_layers = 0;
    StoredWeights stored{};  ///< nothing for models by name
    /// The published count, which the shapes must give; 0: none known.
    std::int64_t published_parameters = 0;
    std::int64_t published_rounding = 0;  ///< largest error of a rounded published count
    friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

/// Returns the parameters of one norm of the rows.
std::int64_t norm_width(const ModelSpec& model);

/// The kind of a layer, by its MLP and attention.
struct LayerKind {
    bool experts = false;  ///< experts in place of the dense MLP
    bool local = false;    ///< attention sees the window only
    auto operator<=>(const LayerKind&) const = default;
};
/// Returns the kind of a layer of the model, or of a layer of further tokens, numbered after them.
LayerKind layer_kind(const ModelSpec& model, std::int64_t layer);
/// True if the model has local layers (`local`), or layers that are not.
bool has_layers(const ModelSpec& model, bool local);
/// Returns the number of layers of each kind.
std::map<LayerKind, std::int64_t> layer_kinds(const ModelSpec& model);

/// Sizes of a layer's attention.
struct AttentionSizes {
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;   ///< of queries and keys
    std::int64_t value_dim = 0;  ///< of a head's values and output
    bool shared_kv = false;
    /// Returns the columns of the projection to keys and values.
    [[nodiscard]] std::int64_t kv_projection() const {
        return kv_heads * (head_dim + (shared_kv ? 0 : value_dim));
    }
};
AttentionSizes attention_sizes(const ModelSpec& model, LayerKind kind);

/// Parameters of one layer, exact.
struct LayerParameters {
    /// Projections. Plain: D H (2 N + 2 K), D H (2 N + K) with shared keys and values. Latent: D q
    /// + q N H (D N H without q_rank) + D (kv + rope) + kv N (H - rope + value) + N value D.
    std::int64_t attention = 0;
    /// Parameters that every token takes: 3 D F gated, 2 D F plain; with experts the router D E and
    /// the shared.
    std::int64_t mlp = 0;
    std::int64_t experts = 0;               ///< all routed experts
    std::int64_t experts_taken = 0;         ///< the routed experts that one token takes
    std::int64_t vectors = 0;               ///< norms, sinks and biases but the routed experts'
    std::int64_t expert_vectors = 0;        ///< biases of all routed experts
    std::int64_t expert_vectors_taken = 0;  ///< of those that one token takes

    [[nodiscard]] std::int64_t total() const {
        return attention + mlp + experts + vectors + expert_vectors;
    }
    /// Returns the parameters in the matmuls of one token.
    [[nodiscard]] std::int64_t matmul() const { return attention + mlp + experts_taken; }
};
LayerParameters count_layer(const ModelSpec& model, LayerKind kind);

/// Parameters of the whole model by component, exact.
struct ParameterCount {
    std::int64_t layers = 0;
    std::int64_t layers_matmul = 0;  ///< those in the matmuls of one token
    std::int64_t embedding = 0;      ///< V D
    std::int64_t positions = 0;      ///< positions x D
    std::int64_t unembedding = 0;    ///< V D; 0 when tied
    std::int64_t final_norm = 0;     ///< D, 2 D with bias; a bias of the unembedding with it
    /// All layers of further tokens, with mtp_vectors() and mtp_matrix() each.
    std::int64_t mtp = 0;
    /// In the matmuls of one token, with V D of the unembedding each time too.
    std::int64_t mtp_matmul = 0;
    std::int64_t total = 0;
    std::int64_t active = 0;  ///< total without the routed experts that a token does not take
};
ParameterCount count_parameters(const ModelSpec& model);
/// Returns the parameters before a layer of further tokens: 2 D^2, and two norms.
std::int64_t mtp_matrix(const ModelSpec& model);
std::int64_t mtp_vectors(const ModelSpec& model);

/// Returns the pairs of query and key of one sequence of S: S W - W^2 / 2 causal, S W otherwise. W
/// is the smaller of the window and S (S itself in a global layer: S^2 / 2 and S^2).
double attention_pairs(const ModelSpec& model, LayerKind kind, double sequence, bool causal);

/// Training FLOPs of one token.
struct FlopsPerToken {
    /// 6 x the parameters that multiply it: those of its layers' matmuls, and V D for the
    /// unembedding, tied or not, once more for each further token. An embedding's lookup, norms and
    /// biases are no matmuls.
    double matmul = 0;
    double parameters = 0;  ///< 6 x active parameters, in any role
    double attention = 0;   ///< the sum over layers of 6 N (H + H of values) pairs / S
    [[nodiscard]] double executed() const { return matmul + attention; }
};
FlopsPerToken training_flops_per_token(const ModelSpec& model, std::int64_t sequence, bool causal);

/// The models that podsim knows by name.
std::span<const ModelSpec> model_catalogue();
/// Throws sim::InputError with the nearest valid name.
const ModelSpec& find_model(std::string_view name);

/// Largest accepted values. Within them every parameter count fits 64 bits: attention of a layer
/// has less than 2^50 parameters, its MLPs less than 2^47, all layers less than 2^63, the tables
/// 2^46.
struct ModelLimits {
    static constexpr std::int64_t layers = 1LL << 12;
    static constexpr std::int64_t d_model = 1LL << 20;
    static constexpr std::int64_t d_ff = 1LL << 22;
    static constexpr std::int64_t heads = 1LL << 14;
    static constexpr std::int64_t head_dim = 1LL << 12;
    static constexpr std::int64_t vocabulary = 1LL << 24;
    static constexpr std::int64_t experts = 1LL << 16;
    static constexpr std::int64_t expert_columns = 1LL << 24;  ///< (count + shared) x d_ff
    static constexpr std::int64_t mtp_layers = 8;
};

/// Checks every field and their relations: each from 1 to its limit, K divides N, ... Throws
/// SettingError naming the field, its value and the allowed values.
void validate(const ModelSpec& model);
/// Reports all faults, at `model.layers`, ...; a consequence of another fault is not reported.
void validate(const ModelSpec& model, sim::InputFaults& faults);

/// True if a norm reads the output of each block before it is added to the rows.
inline bool norms_outputs(const ModelSpec& model) {
    return model.norms == 4 && !model.parallel_block;
}

}  // namespace podsim::workloads
