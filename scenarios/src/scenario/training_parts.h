// Reads `batch`, `training` and `overlap`, one function per section. Internal to the loader.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/src/scenario/reader.h"
#include "scenarios/src/scenario/scenario.h"
#include "topology/mesh/mesh.h"
#include "workloads/plan/expert_matmul.h"
#include "workloads/plan/precision.h"

namespace podsim::workloads {
struct ModelSpec;
struct TrainingPlan;
}  // namespace podsim::workloads

namespace podsim::scenarios {

/// Reads the plan of `batch`, `training` and `overlap` with the sizes of the mesh on that hardware,
/// and checks it against the model and the chip.
workloads::TrainingPlan read_plan(const Reader& root, const topology::DeviceMesh& mesh,
                                  const Hardware& hardware, const workloads::ModelSpec& model);

/// Reads the dtype of matmuls: `bf16` without a value, `int8`, or `fp8` if the chip has it.
workloads::MatmulDtype read_dtype(const Reader& dtype, const topology::ChipSpec& chip);

/// Reads the number formats in `training`: dtypes of matmuls, parameters, gradients, moments and
/// logits, scales, gathers.
workloads::Precision read_precision(const Reader& training, const topology::ChipSpec& chip,
                                    const workloads::ExpertPath& experts);

/// Reads `training.remat` into `remat` of the plan.
void read_remat(const Reader& remat, const workloads::ModelSpec& model,
                workloads::TrainingPlan& plan);

/// Reads `overlap:` into the plan, whose ways, placement and mask are known. Ring steps go along
/// the mesh.
void read_overlap(const Reader& overlap, const topology::DeviceMesh& mesh, const Hardware& hardware,
                  const workloads::ModelSpec& model, workloads::TrainingPlan& plan);

}  // namespace podsim::scenarios
