// The tracks of a chip's compute stream: the step, layers, operations with waits, and the units that work on them.
#pragma once

#include <vector>

#include "scenarios/timeline/chip_view.h"

namespace podsim::scenarios {

/// `Steps`, `Layers`, `XLA Ops`, `MXU`, `VPU`, `HBM`.
void tell_stream(const ChipView& view, TrackLog& log);

/// From what held the compute stream up to the operation that then began, where both have slices.
std::vector<Flow> waits_of(const ChipView& view, const TrackLog& log);

}  // namespace podsim::scenarios
