// The closed forms of a scenario's step as text and JSON.
#pragma once

#include <string>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/simulate/estimate_step.h"

namespace podsim::scenarios {

std::string estimate_text(const Scenario& scenario, const StepEstimate& estimate);
Json estimate_json(const Scenario& scenario, const StepEstimate& estimate);

/// `fits: 15.02 GB of 102.8 GB at the peak in program order`.
std::string memory_text(const OrderedMemory& memory);
Json memory_json(const OrderedMemory& memory);

}  // namespace podsim::scenarios
