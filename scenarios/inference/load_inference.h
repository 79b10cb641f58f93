// `inference:` in place of `training:` and `batch:`: which sequences go through the model, and how weights and cache are kept.
#pragma once

#include "scenarios/spec/hardware.h"
#include "scenarios/yaml/reader.h"
#include "topology/mesh/mesh.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {
struct ModelSpec;
}  // namespace podsim::workloads

namespace podsim::scenarios {

/// The plan of `inference` and `overlap` with the sizes of the mesh on that hardware, checked against the model.
workloads::TrainingPlan read_inference(const Reader& root, const topology::DeviceMesh& mesh,
                                       const Hardware& hardware, const workloads::ModelSpec& model);

}  // namespace podsim::scenarios
