// What one key of a scenario means: `podsim help training.remat`.
#pragma once

#include <string>

namespace podsim::scenarios {

/// By its path, or by its last name: every key of that name. Throws sim::InputError with the nearest name for another.
std::string key_help(const std::string& name);

}  // namespace podsim::scenarios
