#include "workloads/plan/remat.h"

#include <fmt/format.h>

namespace podsim::workloads {

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
    std::string text;
    if (!save.empty() || offload.empty()) {
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
            return {input, qkv, out, gate_up, output};
        case RematPolicy::block:
            return {input};
        case RematPolicy::named:
            return TensorSet{input} | remat.names.save | remat.names.offload;
    }
    return {};
}

}  // namespace podsim::workloads
