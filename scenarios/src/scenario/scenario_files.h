// Finds scenario files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/src/scenario/scenario_source.h"

namespace podsim::scenarios {

/// Returns all *.yaml and *.yml files in a folder and below, sorted by path.
std::vector<std::string> scenario_files(const std::string& folder);

/// Returns the folders that may hold the library of scenarios, in the order in which they are
/// tried: `scenarios` in the current folder, then beside the executable and in the folders above
/// it, then the installed one.
std::vector<std::string> library_candidates();

/// Returns the named scenarios: files and texts as they are, and for a folder all files in it and
/// below. Throws sim::InputError for a folder without any.
std::vector<ScenarioSource> files_of(std::span<const ScenarioSource> named);

}  // namespace podsim::scenarios
