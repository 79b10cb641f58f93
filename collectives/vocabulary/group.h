// The members of a collective: the groups into which the chips of a slice, or of several, fall.
#pragma once

#include <vector>

#include "topology/mesh/mesh.h"

namespace podsim::collectives {

/// The members of one collective: the product of factors of physical axes, as DeviceMesh::group
/// returns them (merged, none of length 1, sorted). Every chip of the slice is in one group.
using Group = std::vector<topology::AxisFactor>;

/// Number of members n.
int group_size(const Group& group);

/// Bit a is set if the group uses physical axis a.
unsigned axes_mask(const Group& group);

/// A group that may have members in several slices: the chips of `group` in each of `across`.
struct Members {
    Group group{};
    topology::SliceFactor across{};

    [[nodiscard]] int size() const { return group_size(group) * across.length; }
    [[nodiscard]] bool span_slices() const { return across.length > 1; }
    friend bool operator==(const Members&, const Members&) = default;
};

}  // namespace podsim::collectives
