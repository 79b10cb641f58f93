// Finds the places whose memory may have to be shared.
#pragma once

#include <vector>

#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// Returns [graph]: true if the demands can exceed the memory of one of its places. Empty: no graph
/// is at risk.
std::vector<bool> graphs_at_risk(const Workload& workload);

}  // namespace podsim::sim
