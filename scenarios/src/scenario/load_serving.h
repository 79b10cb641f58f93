// Reads `serving:` from YAML into the specification of a serving run.
#pragma once

#include <filesystem>
#include <memory>

#include "scenarios/src/scenario/reader.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/scenario/serving_spec.h"

namespace podsim::workloads {
struct ModelSpec;
}  // namespace podsim::workloads

namespace podsim::scenarios {

/// Reads the section alone. The host's time is 0, and values that follow from the model stay open.
/// With a `model`, the tokens that a sequence keeps and its greatest length are read too. Adds all
/// faults to those of the reader.
ServingSpec read_serving(const Reader& serving, const std::filesystem::path& base,
                         const workloads::ModelSpec* model = nullptr);

/// Reads the section for `server`, whose sections have been read. `base` is the folder to which
/// traces are relative. The server fills in values that the file leaves open: its profile the
/// host's time, its cache the bytes of a token that goes to another server. Pages stay open. Adds
/// all faults to those of the reader.
std::shared_ptr<const ServingSpec> load_serving(const Reader& serving,
                                                const std::filesystem::path& base,
                                                const Scenario& server);

}  // namespace podsim::scenarios
