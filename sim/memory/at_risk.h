// Where the memories may have to be shared.
#pragma once

#include <vector>

#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// [graph]: whether the demands can exceed the memory of one of its places. Empty: nowhere.
std::vector<bool> graphs_at_risk(const Workload& workload);

}  // namespace podsim::sim
