// The inputs of a step, and the source of each value.
#pragma once

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/scenario/yaml_tree.h"

namespace podsim::scenarios {

/// Returns groups of inputs: the keys that the scenario gives, those left to podsim's defaults, the
/// chip's data and the factors of its profile. Every row has `name`, `value`, `source` and
/// `meaning`. It is `assumed` if it is a default that nobody chose, or if its source calls it an
/// assumption or not measured. `tree` has all settings applied.
Json inputs_json(const Scenario& scenario, const YamlNode& tree);

}  // namespace podsim::scenarios
