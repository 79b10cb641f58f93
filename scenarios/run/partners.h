// Which chips of a pipeline exchange messages with which: partners lie at the same ranks of all axes but the pipeline's.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/lower/lower_step.h"

namespace podsim::scenarios {

/// [place]: where it sends in an operation.
std::vector<std::vector<std::uint32_t>> receivers_of(const sim::Workload& workload,
                                                     const sim::OperationSpec& operation);

/// By program, a place of it: of the stage `stage` those in `places` (by program; of others whatever stands there), of the other stages
/// those with which they exchange messages, or are joined by a chain of such. kNoPlace where no message leads to a program.
std::vector<std::uint32_t> partners_of(const LoweredStep& step, std::size_t stage,
                                       const std::vector<std::uint32_t>& places);

}  // namespace podsim::scenarios
