// The meshes beside a mesh: what its axes give to each other on one physical axis.
#pragma once

#include <vector>

#include "scenarios/spec/scenario.h"
#include "scenarios/suggest/plan_changes.h"

namespace podsim::scenarios {

/// A physical axis is a row of factors, by stride (topology/mesh/mesh.h). Beside it lie the rows in which one logical axis gives a prime
/// factor, or all it has there, to its neighbour, and those in which one of fsdp, context, tensor and data that is not its neighbour takes
/// a prime factor of another, of its innermost or its outermost strides; so does expert of models with experts, or all of it, in training. Of the
/// slice's axes alone: slices, and the axes of pipeline, cache and, in inference, expert, stay.
/// Each mesh once, in the order of x, y, z, without the mesh itself. Some may not suit the model.
std::vector<PlanChange> mesh_moves(const Scenario& scenario);

}  // namespace podsim::scenarios
