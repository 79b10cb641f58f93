// Reads how routed experts are computed, from `training`: their path, and how many tokens they
// take.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/src/scenario/reader.h"
#include "topology/mesh/mesh.h"
#include "workloads/plan/expert_matmul.h"

namespace podsim::workloads {
struct ModelSpec;
struct TrainingPlan;
}  // namespace podsim::workloads

namespace podsim::scenarios {

/// Returns the relative tokens of the ranks. The logarithms of the experts' tokens are normal with
/// deviation `spread` (near_normal of random.h), and a rank has the sum of its equal run of
/// experts. An expert's number depends only on the seed and its index.
std::vector<double> drawn_shares(double spread, std::uint64_t seed, std::int64_t experts,
                                 int ranks);

/// Reads the tile of a grouped matmul: `[rows, inner dimension, columns]`.
workloads::ExpertTile read_expert_tile(const Reader& tile,
                                       const workloads::ExpertTile& unless_set = {});

/// Reads `training.moe`, `training.capacity_factor` and `training.expert_imbalance` into the plan,
/// whose ways are known. Without `moe.matmul` experts are sparse, as MaxText's are, or dense if
/// they have a capacity. `expert_imbalance` is `1.2`, the same for all ranks; a relative load for
/// each, `[4, 2, 1, 0]`; or drawn, `{distribution: lognormal, spread: 50 %, seed: 1}`.
void read_experts(const Reader& training, const topology::DeviceMesh& mesh,
                  const workloads::ModelSpec& model, workloads::TrainingPlan& plan);

/// Reads `inference.moe`, `capacity_factor` (of ideal experts alone) and `expert_imbalance`.
/// Experts are sparse, in the tiles that a serving engine's kernel chooses unless `moe.tile` names
/// others.
void read_served_experts(const Reader& inference, const topology::DeviceMesh& mesh,
                         const workloads::ModelSpec& model, workloads::TrainingPlan& plan);

}  // namespace podsim::scenarios
