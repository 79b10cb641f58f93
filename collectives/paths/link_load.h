// Lower bounds of what operations put on the links of a slice, added up, and of the load of its
// busiest axes.
//
// Bytes between given chips pass the links between them. Bytes that reach all members of a group,
// or that are summed up over them, pass the links of trees that join the members.
// The algorithm chooses how trees share the axes. For any weights y of the axes, all traffic on the
// links counts together for at least
//
//   L(y) = sum over axes of y_a x bytes along a + sum over trees of bytes x T(y),
//
// where each link of axis a that carries B counts for y_a B, and a chip has k_a of them: on at
// least one link B is no less than L(y) / sum of y_a k_a. Cuts find the largest of these bounds. L
// is the minimum of sums that are linear in y, one for each division of the trees among the axes.
// The sums found so far show the y at which L may be largest; L there yields another sum, until
// none is smaller. Every L(y) on the way is already a bound. For one AllGather over rings the
// weights are 1 / stride.
#pragma once

#include <array>
#include <vector>

#include "collectives/vocabulary/group.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

/// The weight of a link, by its axis.
using AxisWeights = std::array<double, topology::kAxes>;

// The links between the members of a group, each weighted by its axis.
//
// A message from one member to another passes at least the links between them. A structure that
// joins all members is a tree. For any weights y >= 0 of the axes it passes links that count
// together for at least T(y), by Kruskal's algorithm: gaps between members, the lightest first,
// join both sides in all rows at once,
//
//   T(y) = sum over gaps, each of g links on axis a, of y_a g (parts before - parts after),
//   parts = product over axes of 1 + the number of its gaps that have not been joined yet
//
// with the gaps of each axis between neighbours; on a ring without the longest. If members are
// adjacent and every link counts for 1, T = n - 1. With weights 0 and 1, T counts the links along a
// set of axes.
//
// Proof that no tree joins them by less, whatever chips it passes: cut each gap at one of its
// links, drawn at random. Every component of the slice then has one member. The cuts that a tree
// crosses therefore join all components, and their gaps count together for at least the lightest
// tree over the gaps: T(y). A link of a gap of g links is cut with probability 1/g, so the gaps
// that a tree crosses count on average for the links that it passes.

/// A distance between neighbours in links, and the number of such gaps along an axis.
struct Gap {
    int links = 0;
    int count = 0;

    friend bool operator==(const Gap&, const Gap&) = default;
};

/// By axis, the shortest first.
using Gaps = std::array<std::vector<Gap>, topology::kAxes>;

/// Returns the gaps of a group whose factors are sorted by axis, then stride. Not for twisted
/// slices.
Gaps gaps_between(const Group& group);

/// Returns by axis the links of a tree that is the lightest for these weights; their weighted sum
/// is T(y).
std::array<double, topology::kAxes> tree_links(const Gaps& gaps, const AxisWeights& weights);

/// The load of one chip, as the mean over chips. Not for twisted slices.
class LinkLoad {
public:
    /// Adds bytes that pass along a tree between members.
    void add_tree(const Gaps& gaps, double bytes);
    /// Adds bytes times the links along an axis that they pass.
    void add_along(int axis, double bytes) { along_.at(static_cast<std::size_t>(axis)) += bytes; }
    void add(const LinkLoad& other, double times);

    /// Returns by axis the load of the trees that are lightest for these weights, and of the bytes
    /// that pass the axis in any case. Its weighted sum is L(y).
    [[nodiscard]] AxisWeights least(const AxisWeights& weights) const;

    struct Most {
        double bytes = 0;   ///< on one link
        unsigned axes = 0;  ///< bits of the axes whose links count
    };
    /// `links`: links of a chip, by axis.
    [[nodiscard]] Most most(const AxisWeights& links) const;

private:
    struct Tree {
        Gaps gaps;
        double bytes = 0;
    };

    std::vector<Tree> trees_;
    std::array<double, topology::kAxes> along_{};
};

}  // namespace podsim::collectives
