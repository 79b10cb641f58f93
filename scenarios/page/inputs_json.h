// What went into a step, and where each value is from.
#pragma once

#include "scenarios/spec/scenario.h"
#include "scenarios/text/json_text.h"
#include "scenarios/yaml/yaml_tree.h"

namespace podsim::scenarios {

/// Groups of inputs: the keys that the scenario gives, those that it leaves to podsim's defaults, the chip's data and the factors
/// of its profile. Every row has `name`, `value`, `source`, `meaning`, and whether it is `assumed`: a default that
/// nobody chose, or a value that its source calls an assumption or not measured. `tree`: with all settings applied.
Json inputs_json(const Scenario& scenario, const YamlNode& tree);

}  // namespace podsim::scenarios
