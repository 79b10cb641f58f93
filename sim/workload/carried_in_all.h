// What a run's links carry, known before it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// [place][port]: what all messages of all operations put on a link, in the units of LinkTotals: with links that operations share and places do
/// not, to the unit what ExecutionResult::links have in the end.
std::vector<std::int64_t> carried_in_all(const Workload& workload);

}  // namespace podsim::sim
