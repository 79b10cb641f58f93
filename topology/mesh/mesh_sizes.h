// Functions that the mappings of sizes to a mesh share. Private to the folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topology/mesh/mesh.h"

namespace podsim::topology {

using Sizes = std::vector<std::pair<std::string, int>>;

/// Throws sim::InputError if the sizes do not multiply to the chips of all slices, or one is below
/// 1.
void check_sizes(const Lattice& slice, const Sizes& sizes, int slices);

/// Assigns the slices to axes: first those named in `first`, in that order, then the others as
/// given. Divides `sizes` by the assigned slices and adds the factors to `axes`.
void place_slices(Sizes& sizes, int slices, const std::vector<std::string>& first,
                  std::vector<LogicalAxis>& axes);

}  // namespace podsim::topology
