// The order of a workload's tasks, ready to be counted down: who follows whom, and how many each waits for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// A task of work also follows the one before it on its serial resource.
struct TaskOrder {
    /// Throws std::logic_error where a task depends on itself or on a later one.
    explicit TaskOrder(const Workload& workload);

    /// Of a task: in the order of the tasks that follow it.
    [[nodiscard]] std::span<const std::uint32_t> successors(std::uint32_t graph,
                                                            std::uint32_t task) const {
        const Successors& of_graph = successors_[graph];
        return std::span(of_graph.tasks)
            .subspan(of_graph.first[task], of_graph.first[task + 1] - of_graph.first[task]);
    }

    std::vector<std::vector<std::uint32_t>> initial_needs;  ///< [graph][task]
    /// [place], and the end: where its tasks begin in what is kept for each task of each place.
    std::vector<std::uint32_t> first_task;

private:
    struct Successors {
        std::vector<std::uint32_t> tasks;  ///< of one task after the other
        std::vector<std::uint32_t> first;  ///< [task], and the end
    };
    std::vector<Successors> successors_;  ///< [graph]
};

}  // namespace podsim::sim
