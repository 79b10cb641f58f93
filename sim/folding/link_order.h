// Checks that messages and their images go in the same order wherever they meet
// (fold_by_mirrors.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/folding/images.h"
#include "sim/workload/machine.h"
#include "sim/workload/schedule.h"

namespace podsim::sim {

/// True if transfers go in the same order by their own and by the common ranks at every link.
bool orders_agree(const Schedule& schedule, const Machine& machine, const ScheduleFacts& facts,
                  const std::vector<std::uint64_t>& common);

}  // namespace podsim::sim
