#include "sim/reuse/skip_repeats.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>
#include <vector>

namespace podsim::sim {
namespace {

class Skipper {
public:
    Skipper(RunState& state, const Components& components, std::uint32_t graph, History& history,
            const Snapshot& from, const Snapshot& now, std::uint32_t repeats)
        : state_(state),
          components_(components),
          component_(components[graph]),
          graph_(graph),
          history_(history),
          from_(from),
          repeats_(repeats),
          period_(now.mark - from.mark),
          last_touched_(now.last_near_task(period_)),
          span_(state.now - from.now),
          first_operation_(component_.operations_before[from.lowest_open]),
          operations_(component_.operations_before[now.lowest_open] - first_operation_) {}

    Skipped skip() {
        const Skipped skipped{span_ * repeats_, period_ * repeats_, operations_ * repeats_};
        const std::vector<OpenTask> open = images_of_open_tasks(skipped);
        repeat_ended();
        if (state_.observer != nullptr) {
            state_.observer->repeated(graph_, state_.now, span_, operations_, repeats_);
        }
        count_events();
        for (const OpenTask& task : open) {
            assert(state_.task_needs[task.image] == 0 && "what runs has an image that runs");
            state_.began[task.image] = task.began;
        }
        move_links(skipped);
        move_messages(skipped);
        move_operations(skipped);
        move_memories(skipped);
        history_.ended_log.clear();
        return skipped;
    }

private:
    struct OpenTask {
        std::size_t image = 0;
        Time began;
    };

    [[nodiscard]] std::vector<OpenTask> images_of_open_tasks(const Skipped& skipped) const;
    [[nodiscard]] Time began(std::uint32_t place, std::uint32_t task, std::uint32_t periods) const;
    void repeat_ended();
    void end_again(const EndedTask& ended, std::uint32_t repeat);
    void end(std::uint32_t place, std::uint32_t task);
    void count_events();
    void move_links(const Skipped& skipped);
    void move_messages(const Skipped& skipped);
    void move_operations(const Skipped& skipped);
    void move_memories(const Skipped& skipped);

    RunState& state_;
    const Components& components_;
    const Component& component_;
    std::uint32_t graph_;
    History& history_;
    const Snapshot& from_;
    std::uint32_t repeats_;
    std::uint32_t period_;           ///< tasks
    std::uint32_t last_touched_;     ///< of the tasks that repeat
    Time span_;                      ///< a period's
    std::uint32_t first_operation_;  ///< of the component's, in the period
    std::uint32_t operations_;       ///< in a period
};

/// Of those that run.
std::vector<Skipper::OpenTask> Skipper::images_of_open_tasks(const Skipped& skipped) const {
    std::vector<OpenTask> open;
    for (const std::uint32_t place : component_.places) {
        for (std::uint32_t task = from_.lowest_open; task <= last_touched_; ++task) {
            const std::size_t at = state_.index_of(place, task);
            if (state_.task_needs[at] == 0) {
                open.push_back({at + skipped.tasks, began(place, task, repeats_)});
            }
        }
    }
    return open;
}

/// When the task's image so many periods on begins. What ran when the period began has an image that runs now, and that one may
/// have begun earlier or later in relation to it; what began in the period begins again one period later.
Time Skipper::began(std::uint32_t place, std::uint32_t task, std::uint32_t periods) const {
    while (periods > 0 && state_.began[state_.index_of(place, task)] <= from_.now) {
        task += period_;
        --periods;
    }
    return state_.began[state_.index_of(place, task)] + span_ * periods;
}

/// What ended in the period ends again in each repeat: place by place, since what is known of a place's tasks lies together.
void Skipper::repeat_ended() {
    const auto first = history_.ended_log.begin() + static_cast<std::ptrdiff_t>(from_.ended_tasks);
    std::vector<EndedTask> ended(first, history_.ended_log.end());
    std::ranges::stable_sort(ended, {}, &EndedTask::place);
    for (auto of_place = ended.begin(); of_place != ended.end();) {
        const auto behind = std::find_if(of_place, ended.end(), [&](const EndedTask& one) {
            return one.place != of_place->place;
        });
        for (std::uint32_t repeat = 1; repeat <= repeats_; ++repeat) {
            std::for_each(of_place, behind, [&](const EndedTask& one) { end_again(one, repeat); });
        }
        of_place = behind;
    }
    state_.open_tasks -= ended.size() * repeats_;
}

/// So many periods later.
void Skipper::end_again(const EndedTask& ended, std::uint32_t repeat) {
    const std::uint32_t task = ended.task + period_ * repeat;
    end(ended.place, task);
    if (state_.observer != nullptr) {
        state_.observer->task_ended(PlaceId(ended.place), TaskId(task),
                                    began(ended.place, ended.task, repeat),
                                    ended.ended + span_ * repeat);
    }
}

/// Those that follow it, images or not, have one need less.
void Skipper::end(std::uint32_t place, std::uint32_t task) {
    state_.task_needs[state_.index_of(place, task)] = RunState::kTaskEnded;
    for (const std::uint32_t next : state_.order.successors(graph_, task)) {
        std::uint32_t& needs = state_.task_needs[state_.index_of(place, next)];
        needs -= needs == RunState::kTaskEnded ? 0 : 1;
        history_.highest_touched = std::max(history_.highest_touched, next);
    }
}

/// Between two equal states lie as many hops as the operations of a period have.
void Skipper::count_events() {
    std::uint64_t events = history_.ended_log.size() - from_.ended_tasks;
    for (std::uint32_t i = first_operation_; i < first_operation_ + operations_; ++i) {
        events += state_.hops_of(component_.operations[i]);
    }
    state_.result.events += events * repeats_;
}

void Skipper::move_links(const Skipped& skipped) {
    for (std::size_t i = 0; i < component_.links.size(); ++i) {
        // What a period adds to the totals of all sets together is added to those of the first set alone.
        const std::uint32_t link = component_.links[i];
        const LinkTotals all = state_.totals_of(link);
        state_.servers.skip(
            link, {}, [](Waiting&) {}, repeats_,
            state_.servers.busy(link) - (all.busy - from_.links[i].busy),
            state_.servers.carried(link) - (all.carried_units - from_.links[i].carried_units));
    }
    const std::vector<std::uint32_t>& first_priority = state_.priorities.first;
    const auto renumber = [&](Waiting& waiting) {
        const std::uint32_t operation = state_.priorities.operation_of[waiting.priority()];
        waiting.order +=
            std::uint64_t{first_priority[components_.image(operation, skipped.operations)] -
                          first_priority[operation]}
            << Waiting::kInstantBits;
    };
    for (const std::uint32_t first_server : components_.first_servers_in_use(graph_)) {
        for (const std::uint32_t link : component_.links) {
            state_.servers.skip(first_server + link, skipped.later_by, renumber, 0, {}, 0);
        }
    }
}

void Skipper::move_messages(const Skipped& skipped) {
    state_.messages.for_each([&](Message& message) {
        if (components_.owner_of_operation(message.operation) == graph_) {
            message.operation = components_.image(message.operation, skipped.operations);
            message.tail_arrival += skipped.later_by;
        }
    });
}

/// From the last, so that none takes the place of one that has not moved yet.
void Skipper::move_operations(const Skipped& skipped) {
    const std::vector<std::uint32_t> open = components_.open_operations(graph_);
    for (auto each = open.rbegin(); each != open.rend(); ++each) {
        LiveOperation& operation = state_.operations[*each];
        for (std::uint32_t& task : operation.task) {
            task = task == kNoTask ? kNoTask : task + skipped.tasks;
        }
        const std::uint32_t image = components_.image(*each, skipped.operations);
        state_.operations[image] = std::move(operation);
        operation = LiveOperation{};
        state_.open_operations.erase(*each);
        state_.open_operations.insert(image);
    }
}

void Skipper::move_memories(const Skipped& skipped) {
    if (!state_.memories.active()) {
        return;
    }
    state_.memories.skip(component_.places, skipped.later_by, skipped.tasks,
                         [&](std::uint32_t operation) -> std::optional<std::uint32_t> {
                             if (components_.owner_of_operation(operation) != graph_ ||
                                 !components_.has_image(operation, skipped.operations)) {
                                 return std::nullopt;
                             }
                             return components_.image(operation, skipped.operations);
                         });
}

}  // namespace

Skipped skip_repeats(RunState& state, const Components& components, std::uint32_t graph,
                     History& history, const Snapshot& from, const Snapshot& now,
                     std::uint32_t repeats) {
    return Skipper(state, components, graph, history, from, now, repeats).skip();
}

std::uint64_t renumbered(const RunState& state, const Components& components, std::uint64_t what,
                         const Skipped& skipped) {
    const EventKind kind = EventCodec::kind(what);
    if (kind == EventKind::link_free || kind == EventKind::head_arrived ||
        kind == EventKind::memory_wake) {
        return what;
    }
    EventCodec::Fields fields = state.codec.fields(what);
    fields.number = kind == EventKind::transfer_arrived
                        ? components.image(fields.number, skipped.operations)
                        : fields.number + skipped.tasks;
    return state.codec.of(kind, fields);
}

}  // namespace podsim::sim
