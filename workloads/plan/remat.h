// Rematerialisation: what of a layer is kept from the forward to the backward pass, and where.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

namespace podsim::workloads {

enum class RematPolicy {
    none,     ///< every intermediate is saved
    matmuls,  ///< the seven matmul outputs of a layer are saved, attention's dot products
              ///< recomputed
    block,    ///< only each layer's input is saved, the layer's forward pass is recomputed
    named,    ///< what RematNames says; of the rest what the backward pass needs is recomputed
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
    output,    ///< mlp_out
};
inline constexpr std::array<LayerTensor, 7> kLayerTensors{
    LayerTensor::input,   LayerTensor::qkv,    LayerTensor::attended, LayerTensor::out,
    LayerTensor::gate_up, LayerTensor::hidden, LayerTensor::output};
std::string_view to_string(LayerTensor tensor);

class TensorSet {
public:
    constexpr TensorSet() = default;
    constexpr TensorSet(std::initializer_list<LayerTensor> tensors) {
        for (const LayerTensor tensor : tensors) {
            add(tensor);
        }
    }
    constexpr void add(LayerTensor tensor) { bits_ |= 1U << static_cast<unsigned>(tensor); }
    constexpr void remove(LayerTensor tensor) { bits_ &= ~(1U << static_cast<unsigned>(tensor)); }
    [[nodiscard]] constexpr bool has(LayerTensor tensor) const {
        return (bits_ >> static_cast<unsigned>(tensor) & 1U) != 0;
    }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    friend constexpr TensorSet operator|(TensorSet a, TensorSet b) {
        a.bits_ |= b.bits_;
        return a;
    }
    friend constexpr bool operator==(TensorSet, TensorSet) = default;

private:
    unsigned bits_ = 0;
};
/// `qkv_proj, out_proj`
std::string to_string(TensorSet tensors);

/// Of RematPolicy::named. Nothing is in both; a layer's input is kept in any case.
struct RematNames {
    TensorSet save{};     ///< in HBM
    TensorSet offload{};  ///< in the host's memory, from the forward to the backward pass
};

struct Remat {
    RematPolicy policy = RematPolicy::block;
    RematNames names{};
};

/// `block`, or what the scenario says: `{save: [qkv_proj], offload: [decoder_layer_input]}`.
std::string to_string(const Remat& remat);

/// What of a layer stays for the backward pass (its input in any case), in HBM or at the host.
TensorSet kept_tensors(const Remat& remat);

}  // namespace podsim::workloads
