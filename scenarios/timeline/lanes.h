// Tracks for what overlaps: as many lanes as are needed.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/run/run_record.h"

namespace podsim::scenarios {

/// The lane of each interval, from 0: the first that is free when it begins, of intervals that are looked at in order of
/// their beginnings (of equal ones, the longer first). No two of a lane overlap. An interval without length has none: -1.
std::vector<int> lanes_of(const std::vector<Interval>& intervals);

}  // namespace podsim::scenarios
