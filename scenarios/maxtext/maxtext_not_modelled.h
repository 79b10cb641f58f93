// Keys of MaxText that change a step and have no counterpart in a scenario.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/base.yml and types.py.
#pragma once

#include "scenarios/maxtext/maxtext_settings.h"

namespace podsim::scenarios {

/// Marks as not expressed what would change the step and has no counterpart: keys whose value is not that which changes nothing, and
/// keys of the command line, or that a file has otherwise than MaxText's own, that nothing has read and of which podsim does not know what they
/// do. Called when all others have been read.
void maxtext_not_modelled(MaxTextSettings& settings);

}  // namespace podsim::scenarios
