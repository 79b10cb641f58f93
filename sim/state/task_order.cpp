#include "sim/state/task_order.h"

#include <stdexcept>

namespace podsim::sim {
namespace {

constexpr std::uint32_t kNobody = 0xffffffff;

/// A need of the later task.
void follows(std::vector<std::vector<std::uint32_t>>& successors, std::vector<std::uint32_t>& needs,
             std::uint32_t earlier, std::uint32_t later) {
    successors[earlier].push_back(later);
    ++needs[later];
}

}  // namespace

TaskOrder::TaskOrder(const Workload& workload) {
    for (const TaskGraph& graph : workload.graphs) {
        auto& next = successors.emplace_back(graph.tasks.size());
        auto& needs = initial_needs.emplace_back(graph.tasks.size());
        std::vector<std::uint32_t> last_on_resource;
        for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
            const Task& spec = graph.tasks[task];
            for (const std::uint32_t before : spec.after) {
                if (before >= task) {
                    throw std::logic_error("a task depends on a later one");
                }
                follows(next, needs, before, task);
            }
            if (spec.operation != kNoOperation) {
                continue;
            }
            if (spec.resource >= last_on_resource.size()) {
                last_on_resource.resize(spec.resource + 1, kNobody);
            }
            std::uint32_t& last = last_on_resource[spec.resource];
            if (last != kNobody) {
                follows(next, needs, last, task);
            }
            last = task;
        }
    }
    first_task.push_back(0);
    for (const std::uint32_t graph : workload.graph_of_place) {
        first_task.push_back(first_task.back() +
                             static_cast<std::uint32_t>(workload.graphs[graph].tasks.size()));
    }
}

}  // namespace podsim::sim
