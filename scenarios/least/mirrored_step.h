// Whether a step is its own mirror image, before its messages are built.
#pragma once

#include "scenarios/least/operation_kinds.h"
#include "scenarios/least/placed_mesh.h"
#include "scenarios/lower/known_collectives.h"
#include "scenarios/lower/rates.h"

namespace podsim::scenarios {

/// Whether chips and their images along every axis of an even period do the same: a step for which this holds is folded along each such
/// axis (scenarios/lower/layout.h, which looks at the messages). It holds where all that is sent goes alike both ways of every line and
/// ring. Not said of
///   an AllReduce along trees with a root in the middle of a line (collectives/algorithms/reduce_broadcast.h): of an even line one of two; nor of one of more than 16
///   members along lines, where that is not looked up;
///   steps of a collective matmul one way round a ring of several on an axis, or along a line of an odd number, and all other operations,
///   some of which are routed;
///   members of unequal work, several slices, perturbed machines, twisted tori.
/// `known`: which algorithm is the fastest for a collective.
bool is_mirrored(const OperationKinds& kinds, const workloads::StepPrograms& programs,
                 const PlacedMesh& mesh, const AchievedHardware& hardware, TensorCollectives tensor,
                 KnownCollectives& known);

}  // namespace podsim::scenarios
