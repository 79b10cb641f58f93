// Which chips of a step do the same at the same time, as far as that is known before its messages are built.
//
// Two kinds of symmetry take chips to such as do the same: the translations by which a step is folded (topology/mesh/fold.h), of a
// period P along an axis, and where every chip is `mirrored` the mirror of each axis of an even period (sim/mirror). Along an axis of L
// chips, p is like p + P, and like L - 1 - p. A symmetry takes the groups of a collective to groups that begin it with them; a group
// need not be like all that lie between its members.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "collectives/vocabulary/group.h"
#include "topology/lattice/lattice.h"
#include "topology/lattice/places.h"
#include "topology/mesh/mesh.h"

namespace podsim::scenarios {

/// Of one thread at a time.
class LikeChips {
public:
    LikeChips(const topology::Lattice& slice, const topology::Places& folded, bool mirrored);

    /// Whether all members of every such group do the same at the same time.
    [[nodiscard]] bool alike(const collectives::Members& members) const;

    /// What is like a group along an axis, of the least that there is of any group. `factors`: those that it has on the axis, at least one.
    struct Beside {
        /// Share of the axis's chips that are members of groups like it, itself among them.
        double covered = 1;
        /// Groups like it whose members lie in its own run of stride x length chips, itself among them; of one factor.
        int in_run = 1;
        /// By factor: of the lines of chips along it that lie in one run of stride x length, those of groups like it, its own among them.
        std::vector<int> lines{};
    };
    [[nodiscard]] const Beside& beside(std::span<const topology::AxisFactor> factors) const;

    /// Whether groups that are not like one lie between its members, or may: between slices those of the host's other chips.
    [[nodiscard]] bool crowded(const collectives::Members& members) const;

private:
    struct Axis {
        int length = 1;
        int period = 1;
        bool mirrored = false;
    };
    [[nodiscard]] const Axis& along(int axis) const {
        return axes_[static_cast<std::size_t>(axis)];
    }
    /// The first of those like it.
    [[nodiscard]] static int first_like(const Axis& axis, int chip);

    [[nodiscard]] Beside find_beside(const Axis& axis,
                                     std::span<const topology::AxisFactor> factors) const;

    std::array<Axis, topology::kAxes> axes_{};
    mutable std::map<std::vector<int>, Beside> known_;  ///< by axis, strides and lengths
    bool twisted_;
    int places_;
    int slices_;
};

/// The factors that a group has on each axis on which it has any.
std::vector<std::span<const topology::AxisFactor>> by_axis(const collectives::Group& group);

}  // namespace podsim::scenarios
