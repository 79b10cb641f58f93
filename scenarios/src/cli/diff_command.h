// `podsim diff`: two steps side by side.
#pragma once

#include <iosfwd>

#include "scenarios/src/cli/timed_watch.h"
#include "scenarios/src/cli/usage.h"
#include "scenarios/src/study/step_difference.h"

namespace podsim::scenarios {

Usage diff_usage();

/// Simulates each side that is a scenario and reads each side that is a result. Throws
/// sim::InputError, Stopped, and what the watch throws.
StepDifference answer_diff(const Usage& options, TimedWatch& watch);
int command_diff(Arguments args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
