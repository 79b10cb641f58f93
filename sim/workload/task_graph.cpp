#include "sim/workload/task_graph.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace podsim::sim {

std::vector<std::uint32_t> first_needed(const TaskGraph& graph) {
    std::vector<std::uint32_t> needed(graph.tasks.size(),
                                      static_cast<std::uint32_t>(graph.tasks.size()));
    for (std::size_t i = graph.tasks.size(); i-- > 0;) {
        const Task& task = graph.tasks[i];
        const bool works = task.operation == kNoOperation;
        const std::uint32_t by = works ? static_cast<std::uint32_t>(i) : needed[i];
        for (const std::uint32_t before : task.after) {
            needed[before] = std::min(needed[before], by);
        }
    }
    return needed;
}

std::vector<std::vector<std::uint32_t>> own_operations(const Workload& workload) {
    constexpr std::uint32_t kNone = 0xffffffff;
    constexpr std::uint32_t kSeveral = 0xfffffffe;
    std::vector<std::uint32_t> graph_of(workload.operations.size(), kNone);
    const auto each = [&](const auto& use) {
        for (std::uint32_t graph = 0; graph < workload.graphs.size(); ++graph) {
            for (const Task& task : workload.graphs[graph].tasks) {
                if (task.operation != kNoOperation) {
                    use(graph, task.operation);
                }
            }
        }
    };
    each([&](std::uint32_t graph, std::uint32_t operation) {
        const std::uint32_t before = std::exchange(graph_of[operation], graph);
        if (before != kNone && before != graph) {
            graph_of[operation] = kSeveral;
        }
    });
    std::vector<std::vector<std::uint32_t>> own(workload.graphs.size());
    each([&](std::uint32_t graph, std::uint32_t operation) {
        if (graph_of[operation] == graph) {
            own[graph].push_back(operation);
        }
    });
    return own;
}

}  // namespace podsim::sim
