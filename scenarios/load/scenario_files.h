// Where scenario files are.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/load/scenario_source.h"

namespace podsim::scenarios {

/// All *.yaml and *.yml files in a folder and below, sorted by path.
std::vector<std::string> scenario_files(const std::string& folder);

/// The folders that may hold the library of scenarios: `scenarios` in the current folder, then
/// beside the executable and in the folders above it, then where it is installed. In the order in which they are tried.
std::vector<std::string> library_candidates();

/// The scenarios that these name: files and texts as they are, folders as all in them and below. Throws
/// sim::InputError for a folder without any.
std::vector<ScenarioSource> files_of(std::span<const ScenarioSource> named);

}  // namespace podsim::scenarios
