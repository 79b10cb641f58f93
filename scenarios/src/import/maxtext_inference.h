// MaxText's files and command lines of inference (decode.py, its JetStream and vLLM servers,
// inference_microbenchmark.py), which describe no training step.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/base.yml, types.py,
// configs/inference and the scripts that set these keys (src/maxtext/inference, tests/end_to_end,
// tests/inference): none of them trains, and none of MaxText's training commands has one of these
// keys.
#pragma once

#include <string>

#include "scenarios/src/import/maxtext_settings.h"

namespace podsim::scenarios {

/// True if a training run leaves the key as base.yml has it.
bool is_of_inference(const std::string& key);

/// Throws sim::InputError at the first key that a run of inference sets, or at a key that names one
/// of MaxText's own files of inference.
void refuse_maxtext_inference(const MaxTextSettings& settings);

}  // namespace podsim::scenarios
