// What a program's collectives must at least put on the links of a slice.
//
// Every algorithm hands arrays from member to member: an AllGather takes each member's shard along a tree to all others, a
// ReduceScatter brings partial sums along one, an AllReduce does both, and an AllToAll has a way for every pair. A message from one
// member to another passes at least as many links as they lie apart, and along a set S of physical axes at least as many of the links of
// S as they lie apart along S. So of an array of V bytes, complete in a group of n,
//
//   AllGather, ReduceScatter   V T(S)   T: the shortest tree that joins the members, seen along the axes of S alone
//   AllReduce                2 V T(S)
//   AllToAll                   V D(S)   D: the mean distance of two members along S, each with itself counted
//
// bytes pass links of S; all groups of a slice together no less than (chips / n) times that, and no slice can do it in less than its
// links along S, all busy, take. T is Kruskal's: gaps between members, the shortest first, join what lies on either side in
// all rows at once,
//
//   T(S) = sum over gaps g of g (parts(< g) - parts(<= g)),   parts(<= g) = product over axes of S of 1 + how many gaps are longer
//
// with the gaps of each axis between neighbours; on a ring without the longest. Where members lie next to each other T = n - 1,
// and the sum is that of roofline_lower; strided groups and those that lie across other axes than S count for more.
#pragma once

#include "collectives/paths/factors.h"
#include "sim/base/quantity.h"
#include "topology/lattice/lattice.h"
#include "topology/mesh/mesh.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// T(S): links along the axes of the mask in the shortest tree that joins the members of a group. 0 where the group has none of them.
double tree_links(const topology::Lattice& slice, const collectives::Group& group,
                  unsigned axes_mask);

/// D(S).
double pair_links(const topology::Lattice& slice, const collectives::Group& group,
                  unsigned axes_mask);

/// The longest that the collectives of a program keep any set of axes busy. `link`: one way of one link. Not of twisted tori, nor where
/// links are dead. What goes between slices is left out.
sim::Seconds least_link_time(const workloads::StepProgram& program, const topology::Lattice& slice,
                             const topology::DeviceMesh& mesh, sim::BytesPerSecond link);

}  // namespace podsim::scenarios
