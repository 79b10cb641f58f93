// The bytes that a run's links will carry, computed before the run.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// [place][port]: the sum over all messages of all operations on a link, in the units of
/// LinkTotals. It equals the final ExecutionResult::links to the unit, if operations share links
/// and places do not.
std::vector<std::int64_t> carried_in_all(const Workload& workload);

}  // namespace podsim::sim
