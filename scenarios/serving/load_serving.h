// `serving`: from YAML to what a serving run is.
#pragma once

#include <filesystem>
#include <memory>

#include "scenarios/serve/serving_spec.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/yaml/reader.h"

namespace podsim::workloads {
struct ModelSpec;
}  // namespace podsim::workloads

namespace podsim::scenarios {

/// The section alone: the host's time 0, and what hangs on the model open, but for what a sequence keeps of its tokens and how long it may
/// be, where there is one. Adds all that is wrong to the reader's faults.
ServingSpec read_serving(const Reader& serving, const std::filesystem::path& base,
                         const workloads::ModelSpec* model = nullptr);

/// `base` is the folder that traces are relative to. What the file leaves open is filled in from the server, whose sections
/// have been read: the host's time by its profile, bytes of a token that goes to another server by its cache. Pages stay open.
/// Adds what is wrong to the reader's faults.
std::shared_ptr<const ServingSpec> load_serving(const Reader& serving,
                                                const std::filesystem::path& base,
                                                const Scenario& server);

}  // namespace podsim::scenarios
