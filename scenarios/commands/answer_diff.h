// What `podsim diff` computes: two steps set beside each other.
#pragma once

#include "scenarios/console/timed_watch.h"
#include "scenarios/console/usage.h"
#include "scenarios/difference/step_difference.h"

namespace podsim::scenarios {

Usage diff_usage();

/// Simulates what is a scenario, reads what is a result. Throws sim::InputError, Stopped, and what the watch throws.
StepDifference answer_diff(const Usage& options, TimedWatch& watch);

}  // namespace podsim::scenarios
