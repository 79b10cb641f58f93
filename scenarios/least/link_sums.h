// What a program's collectives must at least put on the links of a slice.
//
// Every algorithm hands arrays from member to member: an AllGather takes each member's shard along a tree to all others, a
// ReduceScatter brings partial sums along one, an AllReduce does both, and an AllToAll has a way for every pair. So of an array of V
// bytes, complete in a group of n, whose members lie as tree_links.h has it,
//
//   AllGather, ReduceScatter   V T(S)   along a set S of physical axes
//   AllReduce                2 V T(S)
//   AllToAll                   V D(S)
//
// bytes pass links of S; all groups of a slice together no less than (chips / n) times that, and no slice can do it in less than its
// links along S, all busy, take. The sum of neighbours is that of roofline_lower; strided groups and those that lie across other axes
// than S count for more.
#pragma once

#include "scenarios/least/known_bounds.h"
#include "scenarios/least/operation_kinds.h"
#include "scenarios/least/placed_mesh.h"
#include "sim/base/quantity.h"
#include "topology/lattice/lattice.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// The longest that the collectives of a program keep any set of axes busy. `link`: one way of one link. Not of twisted tori, nor where
/// links are dead. What goes between slices is left out.
sim::Seconds least_link_time(const workloads::StepProgram& program, const topology::Lattice& slice,
                             const PlacedMesh& mesh, sim::BytesPerSecond link);

/// The longest that the AllGathers and ReduceScatters of a program and their single steps keep any one link busy, with what their algorithms
/// put there (algorithm_links.h; not of twisted tori): all of it has to pass in the course of the step, whenever that is. `tensor`: of those that may go in
/// steps, where nothing says in which, nothing is said.
sim::Seconds busiest_link_time(const workloads::StepProgram& program,
                               const topology::Lattice& slice, const PlacedMesh& mesh,
                               sim::BytesPerSecond link, TensorCollectives tensor,
                               KnownBounds::OfMachine& known);

}  // namespace podsim::scenarios
