// The manual page podsim(1).
#pragma once

#include <string>

#include "scenarios/manual/manual.h"

namespace podsim::scenarios {

/// In the macros of man(7): commands, the options of each, keys of scenarios, exit statuses, the environment.
std::string man_page(const Manual& manual);

}  // namespace podsim::scenarios
