#include "workloads/plan/remat.h"

#include <fmt/format.h>

#include "workloads/models/model.h"

namespace podsim::workloads {
namespace {

constexpr TensorSet kMatmulOutputs{LayerTensor::qkv, LayerTensor::out, LayerTensor::gate_up,
                                   LayerTensor::output};

/// MaxText's get_remat_policy (layers/decoders.py; before 2024 layers/models.py). Its `minimal` was
/// checkpoint_dots_with_no_batch_dims until August 2025, which saves the same; tensors saved by
/// quantisation are not modelled.
constexpr auto kPolicies = [] {
    using enum LayerTensor;
    using Named = std::pair<std::string_view, Remat>;
    const auto saving = [](TensorSet tensors) {
        return Remat{.policy = RematPolicy::named, .names = {.save = tensors}};
    };
    const auto offloading = [](TensorSet tensors) {
        return Remat{.policy = RematPolicy::named, .names = {.offload = tensors}};
    };
    const Remat matmuls{.policy = RematPolicy::matmuls};
    const Remat with_context = saving(kMatmulOutputs | TensorSet{attended});
    return std::array{
        Named{"full", saving({})},
        Named{"none", {.policy = RematPolicy::none}},
        Named{"matmuls", matmuls},
        Named{"block", {.policy = RematPolicy::block}},
        Named{"minimal", matmuls},
        Named{"minimal_with_quantization", matmuls},
        Named{"minimal_with_context", with_context},
        Named{"minimal_flash", with_context},
        Named{"minimal_with_context_and_quantization", with_context},
        Named{"minimal_offloaded", offloading(kMatmulOutputs)},
        Named{"save_dot_with_context_except_mlp", saving({qkv, attended, out})},
        Named{"save_dot_except_mlp", saving({qkv, out})},
        Named{"save_dot_except_mlpwi", saving({qkv, out, output})},
        Named{"save_dot_except_logits", matmuls},
        Named{"save_dot_except_logits_ffn1", saving({qkv, out, output})},
        Named{"save_qkv_proj", saving({qkv})},
        Named{"save_out_proj", saving({out})},
        Named{"qkv_proj_offloaded", offloading({qkv})},
        Named{"proj", saving({qkv})},
    };
}();

}  // namespace

std::span<const std::pair<std::string_view, Remat>> remat_policies() {
    return kPolicies;
}

std::string_view to_string(LayerTensor tensor) {
    switch (tensor) {
        case LayerTensor::input:
            return "decoder_layer_input";
        case LayerTensor::qkv:
            return "qkv_proj";
        case LayerTensor::attended:
            return "attention_out";
        case LayerTensor::out:
            return "out_proj";
        case LayerTensor::gate_up:
            return "mlp_gate_up";
        case LayerTensor::hidden:
            return "mlp_hidden";
        case LayerTensor::output:
            return "mlp_out";
    }
    return "?";
}

std::string to_string(TensorSet tensors) {
    std::string text;
    for (const LayerTensor tensor : kLayerTensors) {
        if (tensors.has(tensor)) {
            text += text.empty() ? "" : ", ";
            text += to_string(tensor);
        }
    }
    return text;
}

std::string to_string(const Remat& remat) {
    switch (remat.policy) {
        case RematPolicy::none:
            return "none";
        case RematPolicy::matmuls:
            return "matmuls";
        case RematPolicy::block:
            return "block";
        case RematPolicy::named:
            break;
    }
    const auto& [save, offload] = remat.names;
    if ((save | offload).empty()) {
        return "full";
    }
    std::string text;
    if (!save.empty()) {
        text = fmt::format("save: [{}]", to_string(save));
    }
    if (!offload.empty()) {
        text += fmt::format("{}offload: [{}]", text.empty() ? "" : ", ", to_string(offload));
    }
    return fmt::format("{{{}}}", text);
}

TensorSet kept_tensors(const Remat& remat) {
    using enum LayerTensor;
    switch (remat.policy) {
        case RematPolicy::none:
            return {input, qkv, attended, out, gate_up, hidden, output};
        case RematPolicy::matmuls:
            return TensorSet{input} | kMatmulOutputs;
        case RematPolicy::block:
            return {input};
        case RematPolicy::named:
            return TensorSet{input} | remat.names.save | remat.names.offload;
    }
    return {};
}

TensorSet read_backward(const ModelSpec& model, LayerKind kind) {
    using enum LayerTensor;
    // Weight gradients read the inputs of matmuls; attention's gradient its inputs and output, the
    // activation function's its input.
    TensorSet read{input, qkv, attended, gate_up, hidden};
    if (!model.parallel_block) {
        read.add(out);  // by the norm before the MLP
    }
    if (kind.experts || norms_outputs(model)) {
        // The gradient of the router's weights, which multiply it, reads it; so does its own norm.
        read.add(output);
    }
    return read;
}

TensorSet never_read(const ModelSpec& model, const RematNames& names) {
    TensorSet left = names.save | names.offload;
    for (const auto& [kind, number] : layer_kinds(model)) {
        left = left - read_backward(model, kind);
    }
    return left;
}

}  // namespace podsim::workloads
