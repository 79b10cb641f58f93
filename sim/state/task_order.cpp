#include "sim/state/task_order.h"

#include <numeric>
#include <stdexcept>

namespace podsim::sim {
namespace {

constexpr std::uint32_t kNobody = 0xffffffff;

/// Calls follows(earlier, later) for each need of each task, in the order of the tasks.
template <class Follows>
void for_each_need(const TaskGraph& graph, const Follows& follows) {
    std::vector<std::uint32_t> last_on_resource;
    for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
        const Task& spec = graph.tasks[task];
        for (const std::uint32_t before : spec.after) {
            if (before >= task) {
                throw std::logic_error("a task depends on a later one");
            }
            follows(before, task);
        }
        if (spec.operation != kNoOperation) {
            continue;
        }
        if (spec.resource >= last_on_resource.size()) {
            last_on_resource.resize(spec.resource + 1, kNobody);
        }
        std::uint32_t& last = last_on_resource[spec.resource];
        if (last != kNobody) {
            follows(last, task);
        }
        last = task;
    }
}

}  // namespace

TaskOrder::TaskOrder(const Workload& workload) {
    for (const TaskGraph& graph : workload.graphs) {
        std::vector<std::uint32_t>& needs = initial_needs.emplace_back(graph.tasks.size());
        Successors& next = successors_.emplace_back();
        next.first.resize(graph.tasks.size() + 2);
        // Counted one further on, so that each begins where it is to begin once it has been filled.
        for_each_need(graph, [&](std::uint32_t earlier, std::uint32_t later) {
            ++next.first[earlier + 2];
            ++needs[later];
        });
        std::partial_sum(next.first.begin(), next.first.end(), next.first.begin());
        next.tasks.resize(next.first.back());
        for_each_need(graph, [&](std::uint32_t earlier, std::uint32_t later) {
            next.tasks[next.first[earlier + 1]++] = later;
        });
        next.first.pop_back();
    }
    first_task.push_back(0);
    for (const std::uint32_t graph : workload.graph_of_place) {
        first_task.push_back(first_task.back() +
                             static_cast<std::uint32_t>(workload.graphs[graph].tasks.size()));
    }
}

}  // namespace podsim::sim
