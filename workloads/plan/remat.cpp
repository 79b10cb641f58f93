#include "workloads/plan/remat.h"

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

}  // namespace podsim::workloads
