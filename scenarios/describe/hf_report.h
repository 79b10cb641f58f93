// How a Hugging Face config was understood, as text and JSON.
#pragma once

#include <string>

#include "scenarios/text/json_text.h"
#include "workloads/hf/hf_config.h"

namespace podsim::scenarios {

/// The model, its parameters, and every key of the file: read, ignored with the reason, unknown.
std::string hf_report(const workloads::HfReading& reading);
Json hf_json(const workloads::HfReading& reading);

}  // namespace podsim::scenarios
