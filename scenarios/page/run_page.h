// A step, or a program, as a page.
#pragma once

#include <cstddef>

#include "scenarios/page/page.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/yaml/yaml_tree.h"

namespace podsim::scenarios {

/// Slices of a timeline that a page holds where they fit.
inline constexpr std::size_t kMostSlicesShown = 60'000;

/// `json`: what --json writes. `tree`: the scenario's YAML with all settings, for where inputs are from. The result was made with
/// StepOptions::keep_trail. At most `most` slices of the timeline.
Page step_page(const Scenario& scenario, const StepResult& result, const Json& json,
               const YamlNode& tree, std::size_t most);

Page program_page(const Scenario& scenario, const Json& json);

}  // namespace podsim::scenarios
