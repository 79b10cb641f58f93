// The links that lie between the members of a group, each counting for a weight of its axis.
//
// A message from one member to another passes at least the links that lie between them. What joins all members is a tree. For any weights
// y >= 0 of the axes it passes links that count together for at least T(y), which is Kruskal's: gaps between members, the lightest first,
// join what lies on either side in all rows at once,
//
//   T(y) = sum over gaps, a gap of g links on axis a at y_a g, of y_a g (parts before - parts after),
//   parts = product over axes of 1 + how many of its gaps have not been joined yet
//
// with the gaps of each axis between neighbours; on a ring without the longest. Where members lie next to each other and every link counts
// for 1, T = n - 1. With weights 0 and 1 it is what lies along a set of axes.
//
// Why nothing joins them by less, whatever chips it goes by: cut each gap at one of its links, drawn at random. Every piece of the slice
// then has one member, so that the cuts that a tree crosses join all pieces, and their gaps count together for at least the lightest tree
// over the gaps: T(y). A link of a gap of g links is cut with probability 1/g, so what a tree crosses counts in the mean for what it passes.
#pragma once

#include <array>
#include <vector>

#include "collectives/vocabulary/group.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

/// What a link counts for, by its axis.
using AxisWeights = std::array<double, topology::kAxes>;

/// Neighbours so many links apart, and how many such there are along an axis.
struct Gap {
    int links = 0;
    int count = 0;

    friend bool operator==(const Gap&, const Gap&) = default;
};

/// By axis, the shortest first.
using Gaps = std::array<std::vector<Gap>, topology::kAxes>;

/// Of a group whose factors stand by axis, then stride. Not of twisted slices.
Gaps gaps_between(const Group& group);

/// By axis, the links of a tree that is the lightest for these weights: counted by them they are T(y).
std::array<double, topology::kAxes> tree_links(const Gaps& gaps, const AxisWeights& weights);

}  // namespace podsim::collectives
