// A found plan as a scenario file.
#pragma once

#include <filesystem>
#include <string>

#include "scenarios/yaml/yaml_tree.h"

namespace podsim::scenarios {

/// A tree as YAML. `comment`: its first lines.
std::string yaml_text(const YamlNode& tree, const std::string& comment);

/// A tree from `from` as one for `to`, in another folder: relative paths in it name the same files.
YamlNode moved(YamlNode tree, const std::filesystem::path& from, const std::filesystem::path& to);

/// best.yaml, best-2.yaml, ...
std::string numbered(const std::string& path, std::size_t number);

}  // namespace podsim::scenarios
