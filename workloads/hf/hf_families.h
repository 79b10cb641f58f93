// One reader a family of architectures: which key of a config means what.
#pragma once

#include <span>
#include <string_view>

#include "workloads/hf_file/hf_json.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

struct HfFamily {
    std::string_view type;  ///< `model_type`
    void (*read)(HfConfig& config, ModelSpec& model);
};

/// Gated MLPs and rotary positions: llama and what differs from it by norms, biases and windows.
std::span<const HfFamily> dense_families();
/// Layer norms and plain MLPs.
std::span<const HfFamily> gpt_families();
/// Routed experts.
std::span<const HfFamily> expert_families();

}  // namespace podsim::workloads
