// Reports how a Hugging Face config was read, as text and JSON.
#pragma once

#include <string>

#include "scenarios/src/base/json_text.h"
#include "workloads/models/hf_config.h"

namespace podsim::scenarios {

/// Writes the model, its parameters, and every key of the file: read, ignored with the reason,
/// unknown.
std::string hf_report(const workloads::HfReading& reading);
Json hf_json(const workloads::HfReading& reading);

}  // namespace podsim::scenarios
