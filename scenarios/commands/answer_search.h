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

/// Searches it; `stop()` ends the search early, with what was found until then, and so does a watch that is asked to stop
/// once candidates are simulated. Throws what the watch throws.
SearchAnswer answer_search(const Usage& options, const SearchSpace& space, Watch* watch,
                           std::function<bool()> stop);

/// The path of --write, empty without it. Throws sim::InputError where it, or one of the numbered paths beside it, cannot be written.
std::string plans_path(const Usage& options);
/// Writes the best plans as scenarios there, and to numbered paths beside it; nothing without a path.
void write_plans(const std::string& path, const SearchSpace& space, const SearchAnswer& answer);

}  // namespace podsim::scenarios
