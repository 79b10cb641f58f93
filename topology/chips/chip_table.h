// The tables that cmake/chips.awk makes of data/*.yaml. Private to this room.
#pragma once

#include <vector>

#include "topology/chips/chip.h"

namespace podsim::topology {

/// Returns all generations, oldest first.
const std::vector<ChipSpec>& chip_table();
/// Returns the factors of every measured chip that has none of its own.
const std::vector<MeasuredFactor>& pooled_factors();
/// Returns the factors that only steps of inference have.
const std::vector<MeasuredFactor>& inference_factors();

}  // namespace podsim::topology
