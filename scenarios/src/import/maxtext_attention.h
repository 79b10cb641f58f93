// The attention of a MaxText run: its kernel and blocks, or two products around a softmax.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/layers/attention_op.py (apply_attention,
// apply_attention_dot) and types.py.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/import/maxtext_settings.h"

namespace podsim::scenarios {

/// True if attention is two products around a softmax, as without the key. `autoselected` takes it
/// for sequences too short for flash.
bool maxtext_dot_product(MaxTextSettings& settings);
/// Returns the keys of `training` that describe attention. Refuses unknown kernels, and those that
/// TPUs do not have.
std::vector<std::string> maxtext_attention(MaxTextSettings& settings,
                                           std::vector<std::string>& notes);
/// Returns the equivalent of a policy that names `context` if no tensor has that name, as without a
/// flash kernel.
std::string maxtext_without_context(const std::string& policy, std::vector<std::string>& notes);

}  // namespace podsim::scenarios
