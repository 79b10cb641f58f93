// The manual page podsim(1).
#pragma once

#include <string>

#include "scenarios/src/cli/manual.h"

namespace podsim::scenarios {

/// Returns the page in the macros of man(7): commands with their options, keys of scenarios, exit
/// statuses, environment.
std::string man_page(const Manual& manual);

}  // namespace podsim::scenarios
