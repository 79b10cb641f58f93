// What one key of a scenario means: `podsim help training.remat`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podsim::scenarios {

/// By its path, or by its last name: every key of that name. Throws sim::InputError with the nearest name for another, of
/// a key or of `commands`.
std::string key_help(const std::string& name, const std::vector<std::string_view>& commands = {});

}  // namespace podsim::scenarios
