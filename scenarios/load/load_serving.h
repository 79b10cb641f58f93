// `serving`: from YAML to what a serving run is.
#pragma once

#include <filesystem>

#include "scenarios/serve/serving_spec.h"
#include "scenarios/yaml/reader.h"

namespace podsim::scenarios {

/// `base` is the folder that traces are relative to. What the file leaves to the model stays open: pages where the file
/// states none, 0 bytes a token of a transfer. Throws sim::InputError at the place of what is wrong.
ServingSpec read_serving(const Reader& serving, const std::filesystem::path& base);

}  // namespace podsim::scenarios
