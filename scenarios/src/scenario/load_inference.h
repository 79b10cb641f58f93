// Reads `inference:`, which replaces `training:` and `batch:`: the sequences that go through the
// model, and the storage of weights and cache.
#pragma once

#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/scenario/reader.h"
#include "topology/mesh/mesh.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {
struct ModelSpec;
}  // namespace podsim::workloads

namespace podsim::scenarios {

/// Returns the plan of `inference` and `overlap` with the sizes of the mesh on that hardware,
/// checked against the model.
workloads::TrainingPlan read_inference(const Reader& root, const topology::DeviceMesh& mesh,
                                       const Hardware& hardware, const workloads::ModelSpec& model);

}  // namespace podsim::scenarios
