// What keys of MaxText say that nobody changed, of those that podsim does not read.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/base.yml, and its history since 2023 for keys that are gone.
#pragma once

#include <optional>
#include <string_view>

namespace podsim::scenarios {

/// Nothing of keys that are not known.
std::optional<std::string_view> maxtext_default(std::string_view key);

/// Whether two texts of YAML are one value: 12 and 12.0, False and false, None and nothing.
bool says_the_same(std::string_view text, std::string_view other);

}  // namespace podsim::scenarios
