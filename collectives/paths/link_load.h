// What operations put on the links of a slice at the least, added up, and how long its busiest axes are busy with it.
//
// Bytes that go between given chips pass the links between them; those that are to reach all members of a group, or to be summed up over
// them, the links of trees that join them (tree_links.h). How trees share the axes is left to the algorithm. For any weights y of the axes all
// that passes links counts together for at least
//
//   L(y) = sum over axes of y_a x bytes along a + sum over trees of bytes x T(y),
//
// each link of axis a that carries B counts for y_a B, and a chip has k_a of them: B is at least L(y) / sum of y_a k_a on some link. The
// largest of these is where two gaps weigh the same or an axis counts for nothing, since between such weights both sums are linear.
// Of one AllGather over rings it is there that the weights are 1 / stride.
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

    /// L(y).
    [[nodiscard]] double counted(const AxisWeights& weights) const;

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

    /// [pair of axes, ab, ac and bc]: weights of the second, with the first at 1, at which gaps of both weigh the same.
    [[nodiscard]] std::array<std::vector<double>, topology::kAxes> ratios() const;

    std::vector<Tree> trees_;
    std::array<double, topology::kAxes> along_{};
};

}  // namespace podsim::collectives
