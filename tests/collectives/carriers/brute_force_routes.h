// The routes of an AllToAll on explicit chip coordinates, found by walking, for the second
// simulator (brute_force.h).
#pragma once

#include <optional>
#include <vector>

#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

/// One link of a route.
struct Crossing {
    topology::Point chip;  ///< the chip that it leaves
    int axis = 0;
    int direction = 1;
};

struct Walk {
    std::vector<Crossing> crossings;
    double share = 1;
};

/// The routes from one member to another.
struct Pair {
    topology::Point from;
    /// Number of the displacement, in the order in which all_to_all.h numbers them.
    int number = 0;
    std::vector<Walk> walks;
};

/// True if the factor's members are joined end to end by straight links.
bool is_plain_ring(const topology::Lattice& slice, const topology::AxisFactor& factor);

/// Walks link by link along an axis, across the wraps of the slice.
/// Past an unwrapped edge it returns nothing; with `past_edges`,
/// for neighbours that are named but never reached, the other end.
std::optional<topology::Point> walked(const topology::Lattice& slice, topology::Point chip,
                                      int axis, int distance, bool past_edges = false);

std::vector<Pair> pairs_of(const topology::Lattice& slice, const Group& group, bool one_way);

}  // namespace podsim::collectives
