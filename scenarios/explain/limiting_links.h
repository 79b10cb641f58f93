// Which links a collective waits for: those that are busy longest.
#pragma once

#include <vector>

#include "scenarios/lower/lowering.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/scenario.h"
#include "sim/executor/executor.h"

namespace podsim::scenarios {

/// Links count as equally busy within this part of the busiest link's time.
inline constexpr double kAlike = 0.01;

/// The busy time of the busiest link.
sim::Time busiest_time(const sim::ExecutionResult& run);

/// The classes whose busiest link is as busy as any, with the place of that link.
std::vector<LimitingLinks> limiting_links(const Hardware& hardware, const Layout& layout,
                                          const sim::ExecutionResult& run);

}  // namespace podsim::scenarios
