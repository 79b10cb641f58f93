// Rematerialisation: the tensors of a layer that are kept from the forward to the backward pass,
// and their memory.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "workloads/models/weights.h"

namespace podsim::workloads {

struct LayerKind;
struct ModelSpec;

enum class RematPolicy {
    none,  ///< every intermediate is saved
    /// The seven matmul outputs of a layer are saved, attention's dot products recomputed.
    matmuls,
    /// Only each layer's input is saved, the whole forward pass is recomputed: the text's 8 N D.
    block,
    /// RematNames lists the saved tensors (none: JAX's `full`); others that the backward pass reads
    /// are recomputed.
    named,
    // layer.h states the bytes that each policy saves.
};

/// The tensors of a layer that can be saved by name.
enum class LayerTensor {
    input,     ///< decoder_layer_input
    qkv,       ///< qkv_proj: queries, keys and values; of latent attention the latents too
    attended,  ///< attention_out: attention's output before its projection
    out,       ///< out_proj
    /// mlp_gate_up: the MLP's first matmul; of experts also the router's logits.
    gate_up,
    hidden,  ///< mlp_hidden: the input of the MLP's last matmul
    /// mlp_out: of experts the output of each, before it is returned and weighted.
    output,
};
inline constexpr std::array<LayerTensor, 7> kLayerTensors{
    LayerTensor::input,   LayerTensor::qkv,    LayerTensor::attended, LayerTensor::out,
    LayerTensor::gate_up, LayerTensor::hidden, LayerTensor::output};
std::string_view to_string(LayerTensor tensor);

using TensorSet = EnumSet<LayerTensor>;
/// Returns names like `qkv_proj, out_proj`.
std::string to_string(TensorSet tensors);

/// The names of RematPolicy::named. No tensor is in both; a layer's input is kept in any case.
struct RematNames {
    TensorSet save{};     ///< in HBM
    TensorSet offload{};  ///< in the host's memory, from the forward to the backward pass
    friend bool operator==(const RematNames&, const RematNames&) = default;
};

struct Remat {
    RematPolicy policy = RematPolicy::named;
    RematNames names{};
    friend bool operator==(const Remat&, const Remat&) = default;
};

/// The policies that a scenario writes by a single name: podsim's and those of MaxText.
std::span<const std::pair<std::string_view, Remat>> remat_policies();

/// Returns `full`, or the kept tensors: `{save: [qkv_proj], offload: [decoder_layer_input]}`.
std::string to_string(const Remat& remat);

/// Returns the tensors of a layer that a policy names (its input in any case), to stay in HBM or at
/// the host.
TensorSet kept_tensors(const Remat& remat);

/// Returns the tensors of a layer that an operation of its backward pass reads. JAX keeps no
/// others, even if a policy names them (ad_checkpoint.py, remat_partial_eval: residuals that no
/// staged operation reads are dropped), and XLA runs nothing again for them.
TensorSet read_backward(const ModelSpec& model, LayerKind kind);
/// Returns the named tensors that no layer of the model reads.
TensorSet never_read(const ModelSpec& model, const RematNames& names);

}  // namespace podsim::workloads
