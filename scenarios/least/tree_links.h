// The links that lie between the members of a group, seen along any set of the slice's axes.
//
// A message from one member to another passes at least as many links as they lie apart, and along a set S of physical axes at least as
// many of the links of S as they lie apart along S. What joins all members is a tree, of at least T(S) links of S. T is Kruskal's: gaps
// between members, the shortest first, join what lies on either side in all rows at once,
//
//   T(S) = sum over gaps g of g (parts(< g) - parts(<= g)),   parts(<= g) = product over axes of S of 1 + how many gaps are longer
//
// with the gaps of each axis between neighbours; on a ring without the longest. Where members lie next to each other T = n - 1.
#pragma once

#include <array>

#include "collectives/paths/factors.h"
#include "topology/lattice/lattice.h"

namespace podsim::scenarios {

/// By the mask of a set of axes. 0 where the group has none of them.
using LinkCounts = std::array<double, 1U << topology::kAxes>;

/// T: links along the axes of a set in the shortest tree that joins the members of a group.
LinkCounts tree_links(const topology::Lattice& slice, const collectives::Group& group);

/// D: the mean distance of two members along the axes of a set, each with itself counted.
LinkCounts pair_links(const topology::Lattice& slice, const collectives::Group& group);

}  // namespace podsim::scenarios
