// Writes a found plan as a scenario file.
#pragma once

#include <filesystem>
#include <string>

#include "scenarios/src/scenario/yaml_tree.h"

namespace podsim::scenarios {

/// Returns a tree as YAML. `comment`: its first lines.
std::string yaml_text(const YamlNode& tree, const std::string& comment);

/// Rewrites a tree from `from` for `to`, in another folder: its relative paths name the same files.
YamlNode moved(YamlNode tree, const std::filesystem::path& from, const std::filesystem::path& to);

/// Returns the path of a plan: best.yaml, best-2.yaml, ...
std::string numbered(const std::string& path, std::size_t number);

}  // namespace podsim::scenarios
