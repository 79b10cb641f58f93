#include "sim/folding/repeats_possible.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace podsim::sim {
namespace {

bool same_distances(std::span<const std::uint32_t> of_a, std::uint32_t a,
                    std::span<const std::uint32_t> of_b, std::uint32_t b) {
    return std::ranges::equal(of_a, of_b, [a, b](std::uint32_t x, std::uint32_t y) {
        return std::int64_t{x} - a == std::int64_t{y} - b;
    });
}

/// True if both use one schedule at the same places, with equal priority class.
bool same_operation(const OperationSpec& a, const OperationSpec& b) {
    return a.schedule == b.schedule && a.placement == b.placement &&
           a.priority_class == b.priority_class;
}

/// Decides if a stretch of a run repeats once more, by the tasks that it starts and ends.
class Stretch {
public:
    Stretch(const RunState& state, const Components& components, std::uint32_t graph,
            const History& history, const Snapshot& from, const Snapshot& now)
        : state_(state),
          components_(components),
          component_(components[graph]),
          tasks_(state.workload.graphs[graph].tasks),
          graph_(graph),
          period_(now.mark - from.mark),
          operations_(component_.operations_before[now.lowest_open] -
                      component_.operations_before[from.lowest_open]),
          first_(from.lowest_open),
          first_open_(now.lowest_open),
          last_(now.last_near_task(period_)),
          started_(last_ - first_ + 1),
          ends_(started_.size()) {
        for (std::size_t i = from.ended_tasks; i < history.ended_log.size(); ++i) {
            ends_[history.ended_log[i].task - first_] = true;
        }
        for (const std::uint32_t place : component_.places) {
            for (std::uint32_t task = first_; task <= last_; ++task) {
                const std::uint32_t needs = state.task_needs[state.index_of(place, task)];
                if (needs == 0 || needs == RunState::kTaskEnded) {
                    started_[task - first_] = true;
                }
            }
        }
        const std::size_t near = now.near_tasks(period_);
        end_ =
            near < now.tasks.size() ? now.tasks[near] : static_cast<std::uint32_t>(tasks_.size());
        for (std::uint32_t task = first_; task <= last_; ++task) {
            if (started_[task - first_] && tasks_[task].operation != kNoOperation &&
                !components_.shared(tasks_[task])) {
                in_turn_.push_back(tasks_[task].operation);
            }
        }
        std::ranges::sort(in_turn_, {}, [&](std::uint32_t operation) {
            return state_.priorities.first[operation];
        });
    }

    /// Returns a lower bound of the repeats: all tasks have the same successors, started or not.
    [[nodiscard]] std::uint32_t surely() {
        while (same_until_ + period_ < end_ && same(same_until_)) {
            ++same_until_;
        }
        const std::uint32_t same =
            same_until_ <= last_ ? 0 : (same_until_ - last_ - 1) / period_ + 1;
        std::uint32_t repeats = 0;
        while (repeats < same && keeps_turns(repeats)) {
            ++repeats;
        }
        return repeats;
    }
    /// True if the stretch can repeat one more time after `repeats`.
    [[nodiscard]] bool once_more(std::uint32_t repeats) const {
        const std::uint32_t further = (repeats + 1) * period_;
        if (!keeps_turns(repeats)) {
            return false;
        }
        for (std::uint32_t task = first_; task <= last_; ++task) {
            if (started_[task - first_] && !starts_alike(task, repeats)) {
                return false;
            }
        }
        for (std::uint32_t task = first_; task <= last_; ++task) {
            if (ends_[task - first_] &&
                !std::ranges::all_of(state_.order.successors(graph_, task + further),
                                     [&](std::uint32_t next) {
                                         return is_started(next, further) || waits(next, further);
                                     })) {
                return false;
            }
        }
        return true;
    }

private:
    [[nodiscard]] bool same(std::uint32_t task) const {
        return same_task(state_, components_, graph_, task, task + period_);
    }
    /// True if the task's image in the next repeat begins as in the last one. An operation's image
    /// must be `operations_` later in each repeat.
    [[nodiscard]] bool starts_alike(std::uint32_t task, std::uint32_t repeats) const {
        const std::uint32_t image = task + repeats * period_;
        return image + period_ < end_ &&
               (image < same_until_ ||
                begin_alike(state_, components_, graph_, image, image + period_)) &&
               follows_alike(image + period_, (repeats + 1) * period_) &&
               (tasks_[task].operation == kNoOperation ||
                component_.operations_before[image + period_] ==
                    component_.operations_before[task] + (repeats + 1) * operations_);
    }
    /// True if the images of the operations so far have the link priorities of their originals, in
    /// the same order.
    [[nodiscard]] bool keeps_turns(std::uint32_t repeats) const {
        const std::uint32_t further = (repeats + 1) * operations_;
        std::uint32_t before = 0;
        return std::ranges::all_of(in_turn_, [&](std::uint32_t operation) {
            if (!components_.has_image(operation, further)) {
                return false;
            }
            const std::uint32_t turn =
                state_.priorities.first[components_.image(operation, further)];
            return std::exchange(before, turn) <= turn;
        });
    }
    /// True if the image's predecessor on its resource is an image too, or is before all of them.
    [[nodiscard]] bool follows_alike(std::uint32_t image, std::uint32_t further) const {
        const std::uint32_t before = before_on_resource(image, first_ + further);
        return before == image || is_started(before, further);
    }
    /// Returns the work before the task on its serial resource, from `least` on. Returns the task
    /// itself if there is none, or if it is no work.
    [[nodiscard]] std::uint32_t before_on_resource(std::uint32_t task, std::uint32_t least) const {
        const auto on_resource = [&](std::uint32_t some) {
            return tasks_[some].operation == kNoOperation &&
                   tasks_[some].resource == tasks_[task].resource;
        };
        for (std::uint32_t some = task; on_resource(task) && some-- > least;) {
            if (on_resource(some)) {
                return some;
            }
        }
        return task;
    }
    /// True if the task is the image of one that has started.
    [[nodiscard]] bool is_started(std::uint32_t task, std::uint32_t further) const {
        return task >= first_ + further && task <= last_ + further &&
               started_[task - further - first_];
    }
    /// True if at every place the task waits for a task of its own graph, once the images `further`
    /// tasks later are in the present state of their originals.
    [[nodiscard]] bool waits(std::uint32_t task, std::uint32_t further) const {
        std::vector<std::uint32_t> before = tasks_[task].after;
        const auto is_shared = [&](std::uint32_t some) { return components_.shared(tasks_[some]); };
        if (is_shared(task) || std::ranges::any_of(before, is_shared)) {
            return false;
        }
        before.push_back(before_on_resource(task, first_open_ + further));
        return std::ranges::all_of(component_.places, [&](std::uint32_t place) {
            return std::ranges::any_of(before, [&](std::uint32_t some) {
                return some != task && is_open(place, some, further);
            });
        });
    }
    [[nodiscard]] bool is_open(std::uint32_t place, std::uint32_t task,
                               std::uint32_t further) const {
        const auto has_ended = [&](std::uint32_t some) {
            return state_.task_needs[state_.index_of(place, some)] == RunState::kTaskEnded;
        };
        // Tasks far ahead may have ended long ago.
        return task >= first_open_ + further && !has_ended(task) &&
               (task > last_ + further || !has_ended(task - further));
    }

    const RunState& state_;
    const Components& components_;
    const Component& component_;
    const std::vector<Task>& tasks_;
    std::uint32_t graph_;
    std::uint32_t period_;      ///< in tasks
    std::uint32_t operations_;  ///< in a period
    std::uint32_t first_;
    std::uint32_t first_open_;   ///< now
    std::uint32_t last_;         ///< the last touched task
    std::vector<bool> started_;  ///< [task - first_]: at any place
    std::vector<bool> ends_;     ///< [task - first_]: in the stretch, at any place
    /// Operations of started tasks, in the order of their link priorities.
    std::vector<std::uint32_t> in_turn_;
    std::uint32_t end_ = 0;              ///< the first of the tasks far ahead
    std::uint32_t same_until_ = first_;  ///< tasks below it are the same one period later
};

}  // namespace

bool begin_alike(const RunState& state, const Components& components, std::uint32_t graph,
                 std::uint32_t a, std::uint32_t b) {
    const std::vector<Task>& tasks = state.workload.graphs[graph].tasks;
    const Task& first = tasks[a];
    const Task& second = tasks[b];
    const auto is_shared = [&](std::uint32_t task) { return components.shared(tasks[task]); };
    if (first.duration != second.duration || first.resource != second.resource ||
        first.demand != second.demand ||
        (first.operation == kNoOperation) != (second.operation == kNoOperation) ||
        state.order.initial_needs[graph][a] != state.order.initial_needs[graph][b] ||
        !same_distances(first.after, a, second.after, b) || is_shared(a) || is_shared(b) ||
        std::ranges::any_of(first.after, is_shared) ||
        std::ranges::any_of(second.after, is_shared)) {
        return false;
    }
    return first.operation == kNoOperation ||
           same_operation(state.workload.operations[first.operation],
                          state.workload.operations[second.operation]);
}

bool same_task(const RunState& state, const Components& components, std::uint32_t graph,
               std::uint32_t a, std::uint32_t b) {
    const auto successors = [&](std::uint32_t task) { return state.order.successors(graph, task); };
    const auto is_shared = [&](std::uint32_t task) {
        return components.shared(state.workload.graphs[graph].tasks[task]);
    };
    return begin_alike(state, components, graph, a, b) &&
           same_distances(successors(a), a, successors(b), b) &&
           std::ranges::none_of(successors(a), is_shared) &&
           std::ranges::none_of(successors(b), is_shared);
}

std::uint32_t repeats_possible(const RunState& state, const Components& components,
                               std::uint32_t graph, const History& history, const Snapshot& from,
                               const Snapshot& now) {
    Stretch stretch(state, components, graph, history, from, now);
    std::uint32_t repeats = stretch.surely();
    while (stretch.once_more(repeats)) {
        ++repeats;
    }
    return repeats;
}

bool arrivals_start_nothing(const RunState& state, const Component& component) {
    const std::uint32_t graph = state.workload.graph_of_place[component.places.front()];
    for (const std::uint32_t place : component.places) {
        std::map<std::uint32_t, std::uint32_t> from_others;
        for (const std::uint32_t task : component.shared_tasks) {
            if (state.task_needs[state.index_of(place, task)] != RunState::kTaskEnded) {
                for (const std::uint32_t next : state.order.successors(graph, task)) {
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
