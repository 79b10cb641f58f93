// The answer of `podsim search`: the best plans of a space, with warnings and explanations.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "scenarios/src/cli/usage.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "scenarios/src/search/search_report.h"

namespace podsim::scenarios {

Usage search_usage();

/// Returns the space that a scenario and the options describe. Throws sim::InputError.
SearchSpace search_space(const Usage& options, const ScenarioSource& source);

/// Searches the space on `crew`, or on threads of this process, with the records that the options
/// name. `stop()` ends the search early with the results so far. So does a stop of the watch once
/// candidates are simulated. Throws what the watch throws.
SearchAnswer answer_search(const Usage& options, const SearchSpace& space, Watch* watch,
                           std::function<bool()> stop, Crew* crew = nullptr);

/// Paths of a search's outputs; empty without output.
struct SearchPaths {
    std::string json{};
    /// Path of the best plan; the others have numbered paths beside it.
    std::string write{};
    std::string record{};
};
/// Throws sim::InputError if a path is not writable or two paths name one file.
SearchPaths search_paths(const Usage& options);
/// Writes the best plan to `path` and the others to numbered paths beside it, as scenarios. Does
/// nothing without a path.
void write_plans(const std::string& path, const SearchSpace& space, const SearchAnswer& answer);
/// Returns the line that reports these files.
std::string written_plans(const std::string& path, const SearchAnswer& answer);

}  // namespace podsim::scenarios
