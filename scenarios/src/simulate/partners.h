// Message partners among the chips of a pipeline, at the same ranks of all axes but the pipeline's.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/src/simulate/lower_step.h"

namespace podsim::scenarios {

/// Returns the receivers of each place in an operation, by [place].
std::vector<std::vector<std::uint32_t>> receivers_of(const sim::Workload& workload,
                                                     const sim::OperationSpec& operation);

/// Returns one place of each program. For the programs of `stage` it is the one in `places` (by
/// program; entries of other stages are ignored). For programs of other stages it is the place that
/// exchanges messages with these, directly or through a chain of places. kNoPlace if no messages
/// lead to a program.
std::vector<std::uint32_t> partners_of(const LoweredStep& step, std::size_t stage,
                                       const std::vector<std::uint32_t>& places);

}  // namespace podsim::scenarios
