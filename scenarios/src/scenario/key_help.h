// Explains one key of a scenario: `podsim help training.remat`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podsim::scenarios {

/// Returns the help of a key by its path, or of all keys with this last name. For another name,
/// throws sim::InputError with the nearest key or one of `commands`.
std::string key_help(const std::string& name, const std::vector<std::string_view>& commands = {});

/// True if a key has this path or this last name.
bool names_key(std::string_view name);

}  // namespace podsim::scenarios
