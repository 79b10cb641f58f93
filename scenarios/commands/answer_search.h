// What `podsim search` computes: the best plans of a space, and what is said of them.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "scenarios/console/usage.h"
#include "scenarios/load/scenario_source.h"
#include "scenarios/search/search_report.h"

namespace podsim::scenarios {

Usage search_usage();

/// The space that a scenario and the options describe. Throws sim::InputError.
SearchSpace search_space(const Usage& options, const ScenarioSource& source);

/// Searches it; `stop()` ends the search early, with what was found until then. Throws what the watch throws.
SearchAnswer answer_search(const Usage& options, const SearchSpace& space, Watch* watch,
                           std::function<bool()> stop);

/// Writes the best plans as scenarios to the path of --write, and to numbered ones beside it; nothing without it.
void write_plans(const Usage& options, const SearchSpace& space, const SearchAnswer& answer);

}  // namespace podsim::scenarios
