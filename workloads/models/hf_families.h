// One reader for each family of architectures: the meaning of a config's keys.
#pragma once

#include <span>
#include <string_view>

#include "workloads/models/hf_json.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

struct HfFamily {
    std::string_view type;  ///< `model_type`
    void (*read)(HfConfig& config, ModelSpec& model);
};

/// Gated MLPs and rotary positions: llama and families that differ from it by norms, biases and
/// windows.
std::span<const HfFamily> dense_families();
/// Layer norms and plain MLPs.
std::span<const HfFamily> gpt_families();
/// Routed experts.
std::span<const HfFamily> expert_families();

}  // namespace podsim::workloads
