// What `podsim search` computes: the best plans of a space, and what is said of them.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "scenarios/console/usage.h"
#include "scenarios/load/scenario_source.h"
#include "scenarios/search_report/search_report.h"

namespace podsim::scenarios {

Usage search_usage();

/// The space that a scenario and the options describe. Throws sim::InputError.
SearchSpace search_space(const Usage& options, const ScenarioSource& source);

/// Searches it, on `crew` or on threads of this process, with the records that the options name; `stop()` ends the search early, with what was found until then, and so does a watch that is asked to stop
/// once candidates are simulated. Throws what the watch throws.
SearchAnswer answer_search(const Usage& options, const SearchSpace& space, Watch* watch,
                           std::function<bool()> stop, Crew* crew = nullptr);

/// Where what is found goes, empty where nowhere.
struct SearchPaths {
    std::string json{};
    std::string write{};  ///< of the best plan; the others have numbered paths beside it
    std::string record{};
};
/// Throws sim::InputError where one cannot be written, or two are one file.
SearchPaths search_paths(const Usage& options);
/// Writes the best plans as scenarios there, and to numbered paths beside it; nothing without a path.
void write_plans(const std::string& path, const SearchSpace& space, const SearchAnswer& answer);
/// What to say of that.
std::string written_plans(const std::string& path, const SearchAnswer& answer);

}  // namespace podsim::scenarios
