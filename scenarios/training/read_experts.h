// How routed experts are computed, from `training`: their path, and how many tokens they take.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/yaml/reader.h"
#include "topology/mesh/mesh.h"
#include "workloads/plan/expert_matmul.h"

namespace podsim::workloads {
struct ModelSpec;
struct TrainingPlan;
}  // namespace podsim::workloads

namespace podsim::scenarios {

/// Shares of ranks in the tokens of experts whose logarithms are normal with deviation `spread` (near_normal of random.h): a rank
/// has the sum of its equal run of experts. An expert's number comes from the seed and its place alone.
std::vector<double> drawn_shares(double spread, std::uint64_t seed, std::int64_t experts,
                                 int ranks);

/// `[rows, inner dimension, columns]` of a grouped matmul's tile.
workloads::ExpertTile read_expert_tile(const Reader& tile,
                                       const workloads::ExpertTile& unless_set = {});

/// `training.moe`, `training.capacity_factor` and `training.expert_imbalance` into the plan, whose ways are known. Without
/// `moe.matmul` experts are sparse, as MaxText's are, or dense where they have a capacity. `expert_imbalance` is `1.2`, the
/// same for all ranks; a share for each, `[4, 2, 1, 0]`; or drawn, `{distribution: lognormal, spread: 50 %, seed: 1}`.
void read_experts(const Reader& training, const topology::DeviceMesh& mesh,
                  const workloads::ModelSpec& model, workloads::TrainingPlan& plan);

/// `inference.moe`, `capacity_factor` (of ideal experts alone) and `expert_imbalance`. Experts are sparse, in the tiles that a serving
/// engine's kernel chooses unless `moe.tile` says others.
void read_served_experts(const Reader& inference, const topology::DeviceMesh& mesh,
                         const workloads::ModelSpec& model, workloads::TrainingPlan& plan);

}  // namespace podsim::scenarios
