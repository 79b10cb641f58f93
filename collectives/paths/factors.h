// The factors of a group on the links of its slice: rings or lines, and their lengths.
#pragma once

#include <array>
#include <vector>

#include "collectives/vocabulary/group.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

/// The form of one factor of a group: a ring if the factor is the outermost of an axis that wraps
/// straight, otherwise a line.
struct FactorKind {
    bool ring = false;
    int links_per_hop = 1;  ///< the stride: physical links between neighbouring members
};
FactorKind factor_kind(const topology::Lattice& slice, const topology::AxisFactor& factor);

/// True if the group is the whole of a twisted slice. Its rings are walked modulo what the factors
/// before have gathered. The ring along the first axis has the length at which a straight walk
/// returns to the start (2k on a short axis); the ring along the next, the length at which it
/// returns to a chip that shares the data, and so on. The product is the number of chips in every
/// order.
bool spans_twisted_slice(const topology::Lattice& slice, const Group& group);

/// True if a factor is walked as a ring: a ring by its kind, or any factor of the whole of a
/// twisted slice.
bool walked_as_ring(const topology::Lattice& slice, const Group& group,
                    const topology::AxisFactor& factor);

/// True if a factor is walked as a line.
bool has_line(const topology::Lattice& slice, const Group& group);

/// Returns the lengths of the rings of a whole slice in the given order of its axes.
std::vector<int> ring_lengths(const topology::Lattice& slice, const Group& group,
                              const std::vector<int>& order);

/// Links of one direction into (and out of) a chip: the fewest over all chips of the slice, and the
/// mean.
struct LinkCount {
    double fewest = 0;
    double mean = 0;
};

/// Counts links along physical axes: a chip inside a wrapped axis has 2 on it, an end of an
/// unwrapped one 1.
LinkCount links_per_chip(const topology::Lattice& slice, unsigned axes_mask);
/// Returns the mean by axis.
std::array<double, topology::kAxes> links_by_axis(const topology::Lattice& slice);

/// Counts links between a member and other members of its group.
LinkCount links_per_member(const topology::Lattice& slice, const Group& group);

}  // namespace podsim::collectives
