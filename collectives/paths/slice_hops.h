// The links between a chip and a chip of another slice.
#pragma once

#include <vector>

#include "collectives/paths/shift_table.h"
#include "sim/workload/schedule.h"

namespace podsim::collectives {

/// Links from a chip to one of another slice: PCIe, DCN out, DCN in, PCIe.
inline constexpr int kHopsBetweenSlices = 4;

/// Adds them: to the chip at displacement `chips` in the slice `ranks` further round the factor.
void add_hops_between_slices(const topology::SliceFactor& across, int ranks,
                             const topology::Point& chips, ShiftTable& shifts,
                             std::vector<sim::Hop>& hops);

}  // namespace podsim::collectives
