// Default values of the MaxText keys that podsim does not read.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/base.yml, and its history since
// 2023 for keys that are gone.
#pragma once

#include <optional>
#include <string_view>

namespace podsim::scenarios {

/// Returns the default of a key; nothing for unknown keys.
std::optional<std::string_view> maxtext_default(std::string_view key);

/// True if two texts of YAML are one value: 12 and 12.0, False and false, None and nothing.
bool says_the_same(std::string_view text, std::string_view other);

}  // namespace podsim::scenarios
