// The scenario's own values of the keys that a search varies.
//
// Two values are the same if a run takes them for the same: of remat what of the model's layers is kept, by whatever name; numbers by what
// they count; a key that the scenario leaves out has its default.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "scenarios/study/sweep.h"
#include "scenarios/yaml/yaml_tree.h"

namespace podsim::scenarios {

/// Finds the scenario's own value among them, where it is one.
std::optional<std::size_t> own_value(const Varied& varied, const YamlNode& tree,
                                     const std::string& file);

/// Leaves the first alone of values that are the same, and puts the scenario's own behind them where none is it.
void add_own_value(Varied& varied, const YamlNode& tree, const std::string& file);

}  // namespace podsim::scenarios
