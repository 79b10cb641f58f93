// The neighbours of a mesh: meshes in which axes give factors to each other on one physical axis.
#pragma once

#include <vector>

#include "scenarios/src/advise/plan_changes.h"
#include "scenarios/src/scenario/scenario.h"

namespace podsim::scenarios {

/// Returns the neighbouring meshes. A physical axis is a row of factors, by stride
/// (topology/mesh/mesh.h). Its neighbours are
///   rows in which one logical axis gives a prime factor, or all that it has there, to its
///   neighbour in the row;
///   rows in which one of fsdp, context, tensor and data that is not its neighbour takes a prime
///   factor of it, of its innermost or its outermost strides; for models with experts, in training,
///   expert does so too, or takes all of it.
/// Only the slice's axes change: slices, and the axes of pipeline, cache and, in inference, expert,
/// stay. Each mesh occurs once, in the order of x, y, z, without the mesh itself. Some may not suit
/// the model.
std::vector<PlanChange> mesh_moves(const Scenario& scenario);

}  // namespace podsim::scenarios
