// The scenario's own values of the keys that a search varies.
//
// Two values are the same if a run treats them alike. Values of remat are compared by the tensors
// of the model's layers that they keep, under whatever name, and numbers by their value. A key that
// the scenario leaves out has its default.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "scenarios/src/scenario/yaml_tree.h"
#include "scenarios/src/study/sweep.h"

namespace podsim::scenarios {

/// Returns the index of the scenario's own value, if it is among the varied ones.
std::optional<std::size_t> own_value(const Varied& varied, const YamlNode& tree,
                                     const std::string& file);

/// Keeps only the first of values that are the same, and appends the scenario's own if none is the
/// same.
void add_own_value(Varied& varied, const YamlNode& tree, const std::string& file);

}  // namespace podsim::scenarios
