// The tracks of what a chip exchanges beside its compute stream: collectives, sends, host transfers.
#pragma once

#include "scenarios/timeline/chip_view.h"

namespace podsim::scenarios {

/// A track for each kind of collective and mesh axis, then those of sends, receives and host transfers; where slices of one
/// would overlap, further lanes: `AllGather over fsdp #2`.
void tell_exchanges(const ChipView& view, TrackLog& log);

}  // namespace podsim::scenarios
