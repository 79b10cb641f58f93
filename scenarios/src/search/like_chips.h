// Finds the chips of a step that do the same at the same time, as far as this is known before its
// messages are built.
//
// Two kinds of symmetry map chips to chips that do the same: the translations by which a step is
// folded (topology/mesh/fold.h), with a period P along an axis; and, if every chip is `mirrored`,
// the mirror of each axis of an even period (sim/folding). Along an axis of L chips, p is like p +
// P and like L - 1 - p. A symmetry maps the groups of a collective to groups that begin it with
// them. A group need not be like all groups that lie between its members.
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

/// The chips, groups and lines of a step that do the same at the same time. It belongs to one
/// thread at a time.
class LikeChips {
public:
    LikeChips(const topology::Lattice& slice, const topology::Places& folded, bool mirrored);

    /// True if, in every one of these groups, all members do the same at the same time.
    [[nodiscard]] bool alike(const collectives::Members& members) const;

    /// The chips and lines that are like those of a group along an axis: the minimum over all
    /// groups. `factors`: those that the group has on the axis, at least one.
    struct Beside {
        /// Fraction of the axis's chips that are members of groups like it, itself included.
        double covered = 1;
        /// Number of groups like it, itself included, with members in its own run of stride x
        /// length chips. Only for one factor.
        int in_run = 1;
        /// By factor: of the lines of chips along it in one run of stride x length, the number that
        /// belongs to groups like it, its own included.
        std::vector<int> lines{};
    };
    [[nodiscard]] const Beside& beside(std::span<const topology::AxisFactor> factors) const;

    /// True if groups that are not like one lie between its members, or may. Between slices these
    /// are the groups of the host's other chips.
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
    /// Returns the first of the chips that are like `chip`.
    [[nodiscard]] static int first_like(const Axis& axis, int chip);

    [[nodiscard]] Beside find_beside(const Axis& axis,
                                     std::span<const topology::AxisFactor> factors) const;

    std::array<Axis, topology::kAxes> axes_{};
    mutable std::map<std::vector<int>, Beside> known_;  ///< cache by axis, strides and lengths
    bool twisted_;
    int places_;
    int slices_;
};

/// Returns the factors of a group on each axis on which it has any.
std::vector<std::span<const topology::AxisFactor>> by_axis(const collectives::Group& group);

}  // namespace podsim::scenarios
