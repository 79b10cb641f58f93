// What operations put on the links of a slice at the least, added up, and how long its busiest axes are busy with it.
//
// Bytes that go between given chips pass the links between them; those that are to reach all members of a group, or to be summed up over
// them, the links of trees that join them (tree_links.h). How trees share the axes is left to the algorithm. For any weights y of the axes all
// that passes links counts together for at least
//
//   L(y) = sum over axes of y_a x bytes along a + sum over trees of bytes x T(y),
//
// each link of axis a that carries B counts for y_a B, and a chip has k_a of them: B is at least L(y) / sum of y_a k_a on some link. The
// largest of these is found by cuts: L is the least of sums that are linear in y, one for each way of sharing the axes. Those that are known
// say where L may be largest; there it says another, until none says less. Every L(y) on the way is a bound already.
// Of one AllGather over rings the weights are 1 / stride.
#pragma once

#include <array>
#include <vector>

#include "collectives/paths/tree_links.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

/// Of one chip, the mean over chips. Not of twisted slices.
class LinkLoad {
public:
    /// Bytes that pass along a tree between members.
    void add_tree(const Gaps& gaps, double bytes);
    /// Bytes times the links along an axis that they pass.
    void add_along(int axis, double bytes) { along_.at(static_cast<std::size_t>(axis)) += bytes; }
    void add(const LinkLoad& other, double times);

    /// By axis, what the trees that are lightest for these weights put there, and what passes it anyway: counted by them it is L(y).
    [[nodiscard]] AxisWeights least(const AxisWeights& weights) const;

    struct Most {
        double bytes = 0;   ///< on one link
        unsigned axes = 0;  ///< bits of those whose links count
    };
    /// `links`: of a chip, by axis.
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
