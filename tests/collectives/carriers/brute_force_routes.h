// The routes of an AllToAll on explicit chip coordinates, found by walking; part of the second
// simulator (brute_force.h).
#pragma once

#include <optional>
#include <vector>

#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

/// One link on the way.
struct Crossing {
    topology::Point chip;  ///< that it leaves
    int axis = 0;
    int direction = 1;
};

struct Walk {
    std::vector<Crossing> crossings;
    double share = 1;
};

/// What one member sends to another.
struct Pair {
    topology::Point from;
    int number = 0;  ///< of the displacement, in the order in which all_to_all.h numbers them
    std::vector<Walk> walks;
};

/// The factor's members are joined end to end by straight links.
bool is_plain_ring(const topology::Lattice& slice, const topology::AxisFactor& factor);

/// Link by link along an axis, going round as the slice does. Past an unwrapped edge nothing, or,
/// for neighbours that are only named and never reached, the other end.
std::optional<topology::Point> walked(const topology::Lattice& slice, topology::Point chip,
                                      int axis, int distance, bool past_edges = false);

std::vector<Pair> pairs_of(const topology::Lattice& slice, const Group& group, bool one_way);

}  // namespace podsim::collectives
