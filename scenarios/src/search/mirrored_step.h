// Decides whether a step is its own mirror image, before its messages are built.
#pragma once

#include "scenarios/src/search/operation_kinds.h"
#include "scenarios/src/search/placed_mesh.h"
#include "scenarios/src/simulate/known_collectives.h"
#include "scenarios/src/simulate/rates.h"

namespace podsim::scenarios {

/// True if chips and their images along every axis of an even period do the same. A step for which
/// this holds is folded along each such axis (scenarios/src/simulate/layout.h, which examines the
/// messages). It holds if all bytes go alike in both directions of every line and ring. The result
/// is false for
/// - an AllReduce along trees with a root in the middle of a line
///   (collectives/algorithms/reduce_broadcast.h): a line of an even number has two middles and one
///   root; also for one of more than 16 members along lines, whose algorithm is not looked up;
/// - steps of a collective matmul in one direction round one of several rings on an axis, or along
///   a line of an odd number of members; and all other operations, of which a few are routed;
/// - members of unequal work, several slices, perturbed machines, twisted tori.
///
/// `known` caches the fastest algorithm of a collective.
bool is_mirrored(const OperationKinds& kinds, const workloads::StepPrograms& programs,
                 const PlacedMesh& mesh, const AchievedHardware& hardware, TensorCollectives tensor,
                 KnownCollectives& known);

}  // namespace podsim::scenarios
