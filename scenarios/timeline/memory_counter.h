// What a chip holds in its HBM over time, as a counter.
#pragma once

#include "scenarios/timeline/chip_view.h"

namespace podsim::scenarios {

/// The counter `HBM memory (bytes)`, with a series for each class of memory that the step uses. Where not every operation is
/// told of, only the most that is held in each of kMemoryBins equal parts of the run, class by class.
inline constexpr std::int64_t kMemoryBins = 4000;
void tell_memory(const ChipView& view, TimelineSink& sink);

}  // namespace podsim::scenarios
