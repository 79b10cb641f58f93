// The tracks of a chip's compute stream: the step, layers, operations with waits, and its units.
#pragma once

#include <vector>

#include "scenarios/src/report/chip_view.h"

namespace podsim::scenarios {

/// Emits the tracks `Steps`, `Layers`, `XLA Ops`, `MXU`, `VPU`, `HBM`.
void tell_stream(const ChipView& view, TrackLog& log);

/// Returns flows from the operation that the compute stream waited for to the operation that then
/// began, if both have slices.
std::vector<Flow> waits_of(const ChipView& view, const TrackLog& log);

}  // namespace podsim::scenarios
