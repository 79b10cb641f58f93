// What the mappings of a mesh of sizes share. Private to the folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topology/mesh/mesh.h"

namespace podsim::topology {

using Sizes = std::vector<std::pair<std::string, int>>;

/// Throws sim::InputError when the sizes do not multiply to the chips of all slices, or one is below 1.
void check_sizes(const Lattice& slice, const Sizes& sizes, int slices);

/// Gives the slices to axes: those of the names in `first` first, in that order, then the others as given. Divides
/// `sizes` by what they take and adds the factors to `axes`.
void place_slices(Sizes& sizes, int slices, const std::vector<std::string>& first,
                  std::vector<LogicalAxis>& axes);

}  // namespace podsim::topology
