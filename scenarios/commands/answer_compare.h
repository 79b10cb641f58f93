// What `podsim compare` computes: scenarios beside estimates and references.
#pragma once

#include <span>
#include <vector>

#include "scenarios/console/usage.h"
#include "scenarios/load/scenario_source.h"
#include "scenarios/study/compare.h"
#include "scenarios/watch/watch.h"

namespace podsim::scenarios {

Usage compare_usage();

/// A row for each of them, folders being all scenarios in them and below. All are read before the first runs: bad
/// input shows at once. Throws sim::InputError, Stopped, and what the watch throws.
std::vector<Comparison> answer_compare(const Usage& options, std::span<const ScenarioSource> named,
                                       Watch* watch = nullptr);

}  // namespace podsim::scenarios
