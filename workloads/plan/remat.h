// Rematerialisation: what of a layer is kept from the forward to the backward pass, and where.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "workloads/models/enum_set.h"

namespace podsim::workloads {

struct LayerKind;
struct ModelSpec;

enum class RematPolicy {
    none,     ///< every intermediate is saved
    matmuls,  ///< the seven matmul outputs of a layer are saved, attention's dot products
              ///< recomputed
    block,  ///< only each layer's input is saved, the whole forward pass is recomputed: the text's
            ///< 8 N D
    named,  ///< what RematNames says (nothing: JAX's `full`); of the rest what the backward pass
            ///< reads is recomputed
    // layer.h states the bytes that each policy saves.
};

/// What of a layer can be saved by name.
enum class LayerTensor {
    input,     ///< decoder_layer_input
    qkv,       ///< qkv_proj: queries, keys and values; of latent attention the latents too
    attended,  ///< attention_out: attention's output before its projection
    out,       ///< out_proj
    gate_up,   ///< mlp_gate_up: the MLP's first matmul; of experts also the router's logits
    hidden,    ///< mlp_hidden: what the MLP's last matmul reads
    output,    ///< mlp_out: of experts what each gave, before it goes back and is weighted
};
inline constexpr std::array<LayerTensor, 7> kLayerTensors{
    LayerTensor::input,   LayerTensor::qkv,    LayerTensor::attended, LayerTensor::out,
    LayerTensor::gate_up, LayerTensor::hidden, LayerTensor::output};
std::string_view to_string(LayerTensor tensor);

using TensorSet = EnumSet<LayerTensor>;
/// `qkv_proj, out_proj`
std::string to_string(TensorSet tensors);

/// Of RematPolicy::named. Nothing is in both; a layer's input is kept in any case.
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

/// `full`, or what is kept: `{save: [qkv_proj], offload: [decoder_layer_input]}`.
std::string to_string(const Remat& remat);

/// What of a layer a policy names (its input in any case), to stay in HBM or at the host.
TensorSet kept_tensors(const Remat& remat);

/// What of a layer some operation of its backward pass reads. JAX keeps nothing else, whatever a policy names
/// (ad_checkpoint.py, remat_partial_eval: residuals that no staged operation reads are dropped), and XLA runs nothing again
/// for it.
TensorSet read_backward(const ModelSpec& model, LayerKind kind);
/// What the names say and no layer of the model reads.
TensorSet never_read(const ModelSpec& model, const RematNames& names);

}  // namespace podsim::workloads
