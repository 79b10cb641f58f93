// How a MaxText run computes attention: its kernel and blocks, or two products around a softmax.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/layers/attention_op.py (apply_attention, apply_attention_dot) and types.py.
#pragma once

#include <string>
#include <vector>

#include "scenarios/maxtext/maxtext_settings.h"

namespace podsim::scenarios {

/// Whether attention is two products around a softmax, as without the key. `autoselected` takes it for sequences too short for flash.
bool maxtext_dot_product(MaxTextSettings& settings);
/// The parts of `training` that say how attention is computed. Refuses kernels that TPUs do not have, and unknown ones.
std::vector<std::string> maxtext_attention(MaxTextSettings& settings,
                                           std::vector<std::string>& notes);
/// What a policy that names `context` comes to where nothing has that name, as without a flash kernel.
std::string maxtext_without_context(const std::string& policy, std::vector<std::string>& notes);

}  // namespace podsim::scenarios
