// The order of a workload's tasks, ready to be counted down: who follows whom, and how many each waits for.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// A task of work also follows the one before it on its serial resource.
struct TaskOrder {
    /// Throws std::logic_error where a task depends on itself or on a later one.
    explicit TaskOrder(const Workload& workload);

    std::vector<std::vector<std::vector<std::uint32_t>>> successors;  ///< [graph][task]
    std::vector<std::vector<std::uint32_t>> initial_needs;            ///< [graph][task]
    /// [place], and the end: where its tasks begin in what is kept for each task of each place.
    std::vector<std::uint32_t> first_task;
};

}  // namespace podsim::sim
