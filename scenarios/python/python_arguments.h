// What Python hands over, as commands have it.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <vector>

#include "scenarios/console/usage.h"
#include "scenarios/load/scenario_source.h"

namespace podsim::scenarios {

using Options = std::vector<std::string>;

/// A command's options as parsed. Throws sim::InputError.
Usage parsed(Usage usage, const Options& options);

/// A path, or (folder, name, text, has_lines).
ScenarioSource source_of(const pybind11::handle& given);

/// The same of each.
std::vector<ScenarioSource> sources_of(const pybind11::list& given);

}  // namespace podsim::scenarios
