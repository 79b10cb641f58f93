#include "sim/reuse/repeats_possible.h"

#include <algorithm>
#include <map>
#include <vector>

namespace podsim::sim {
namespace {

bool same_distances(const std::vector<std::uint32_t>& of_a, std::uint32_t a,
                    const std::vector<std::uint32_t>& of_b, std::uint32_t b) {
    return std::ranges::equal(of_a, of_b, [a, b](std::uint32_t x, std::uint32_t y) {
        return std::int64_t{x} - a == std::int64_t{y} - b;
    });
}

/// Uses of one schedule by the same places, that go equally early.
bool same_operation(const OperationSpec& a, const OperationSpec& b) {
    return a.schedule == b.schedule && a.placement == b.placement &&
           a.priority_class == b.priority_class;
}

}  // namespace

bool same_task(const RunState& state, const Components& components, std::uint32_t graph,
               std::uint32_t a, std::uint32_t b) {
    const std::vector<Task>& tasks = state.workload.graphs[graph].tasks;
    const std::vector<std::vector<std::uint32_t>>& successors = state.order.successors[graph];
    const Task& first = tasks[a];
    const Task& second = tasks[b];
    const auto is_shared = [&](std::uint32_t task) { return components.shared(tasks[task]); };
    const auto has_shared = [&](std::uint32_t task) {
        return is_shared(task) || std::ranges::any_of(tasks[task].after, is_shared) ||
               std::ranges::any_of(successors[task], is_shared);
    };
    if (first.duration != second.duration || first.resource != second.resource ||
        first.demand != second.demand ||
        (first.operation == kNoOperation) != (second.operation == kNoOperation) ||
        !same_distances(first.after, a, second.after, b) ||
        !same_distances(successors[a], a, successors[b], b) || has_shared(a) || has_shared(b)) {
        return false;
    }
    if (first.operation == kNoOperation) {
        return state.order.initial_needs[graph][a] == state.order.initial_needs[graph][b];
    }
    return same_operation(state.workload.operations[first.operation],
                          state.workload.operations[second.operation]);
}

std::uint32_t repeats_possible(const RunState& state, const Components& components,
                               std::uint32_t graph, const Snapshot& from, const Snapshot& now) {
    const std::uint32_t period = now.mark - from.mark;
    const std::uint32_t touched = now.last_near_task(period);
    const std::size_t far = now.near_tasks(period);
    const auto end = far < now.tasks.size()
                         ? now.tasks[far]
                         : static_cast<std::uint32_t>(state.workload.graphs[graph].tasks.size());
    std::uint32_t same_until = from.lowest_open;
    while (same_until + period < end &&
           same_task(state, components, graph, same_until, same_until + period)) {
        ++same_until;
    }
    return same_until <= touched ? 0 : (same_until - touched - 1) / period + 1;
}

bool arrivals_start_nothing(const RunState& state, const Component& component) {
    const std::uint32_t graph = state.workload.graph_of_place[component.places.front()];
    for (const std::uint32_t place : component.places) {
        std::map<std::uint32_t, std::uint32_t> from_others;
        for (const std::uint32_t task : component.shared_tasks) {
            if (state.task_needs[state.index_of(place, task)] != RunState::kTaskEnded) {
                for (const std::uint32_t next : state.order.successors[graph][task]) {
                    ++from_others[next];
                }
            }
        }
        for (const auto& [task, needs] : from_others) {
            if (state.task_needs[state.index_of(place, task)] <= needs) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace podsim::sim
