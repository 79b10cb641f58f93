// Lanes for intervals that overlap: as many as are needed.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/src/simulate/run_record.h"

namespace podsim::scenarios {

/// Returns the lane of each interval, from 0. Intervals are taken by their beginnings (equal ones:
/// the longer first), and each goes to the first free lane. No two intervals of a lane overlap. An
/// interval without length has no lane: -1.
std::vector<int> lanes_of(const std::vector<Interval>& intervals);

}  // namespace podsim::scenarios
