#include "sim/folding/reuse.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>
#include <vector>

#include "sim/folding/repeats_possible.h"
#include "sim/folding/take_snapshot.h"

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
    std::uint32_t period_;           ///< in tasks
    std::uint32_t last_touched_;     ///< last of the tasks that repeat
    Time span_;                      ///< of a period
    std::uint32_t first_operation_;  ///< first of the component's in the period
    std::uint32_t operations_;       ///< in a period
};

/// Returns the images of the tasks that run.
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

/// Returns the start of the task's image `periods` periods later. A task that ran at the start of
/// the period has an image that runs now, which may have begun earlier or later relative to it. A
/// task that began in the period begins again one period later.
Time Skipper::began(std::uint32_t place, std::uint32_t task, std::uint32_t periods) const {
    while (periods > 0 && state_.began[state_.index_of(place, task)] <= from_.now) {
        task += period_;
        --periods;
    }
    return state_.began[state_.index_of(place, task)] + span_ * periods;
}

/// Ends the tasks of the period again in each repeat. The loop goes place by place, since the data
/// of a place's tasks is contiguous.
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

/// Ends the task's image `repeat` periods later.
void Skipper::end_again(const EndedTask& ended, std::uint32_t repeat) {
    const std::uint32_t task = ended.task + period_ * repeat;
    end(ended.place, task);
    if (state_.observer != nullptr) {
        state_.observer->task_ended(PlaceId(ended.place), TaskId(task),
                                    began(ended.place, ended.task, repeat),
                                    ended.ended + span_ * repeat);
    }
}

/// Ends the task; each successor, image or not, has one need less.
void Skipper::end(std::uint32_t place, std::uint32_t task) {
    state_.task_needs[state_.index_of(place, task)] = RunState::kTaskEnded;
    for (const std::uint32_t next : state_.order.successors(graph_, task)) {
        std::uint32_t& needs = state_.task_needs[state_.index_of(place, next)];
        needs -= needs == RunState::kTaskEnded ? 0 : 1;
        history_.highest_touched = std::max(history_.highest_touched, next);
    }
}

/// Counts the skipped events. Between two equal states there are as many hops as the operations of
/// a period have.
void Skipper::count_events() {
    std::uint64_t events = history_.ended_log.size() - from_.ended_tasks;
    for (std::uint32_t i = first_operation_; i < first_operation_ + operations_; ++i) {
        events += state_.hops_of(component_.operations[i]);
    }
    state_.result.events += events * repeats_;
}

void Skipper::move_links(const Skipped& skipped) {
    for (std::size_t i = 0; i < component_.links.size(); ++i) {
        // The totals that a period adds to all sets are added to the first set alone.
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

/// Moves operations from the last to the first, so that none overwrites one that has not moved yet.
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

/// Numbers of remembered states, with two marks in each layer: those of sixteen layers. If they are
/// large together, those of four layers; early ones are then dropped until all have at most four
/// times the size of the largest.
constexpr std::size_t kSnapshots = 32;
constexpr std::size_t kLargeSnapshots = 8;
constexpr std::size_t kLarge = std::size_t{1} << 20;
constexpr std::size_t kTimesTheLargest = 4;

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

Reuse::Reuse(RunState& state) : state_(state), components_(state), histories_(components_.size()) {
    for (std::size_t graph = 0; graph < components_.size(); ++graph) {
        histories_[graph].lowest_open.resize(components_[graph].places.size());
    }
    state_.keep_when_tasks_begin();
}

void Reuse::task_ended(std::uint32_t place, std::uint32_t task) {
    const std::uint32_t graph = state_.workload.graph_of_place[place];
    const Component& component = components_[graph];
    if (component.is_mark.empty() || !is_own(place, task)) {
        return;
    }
    histories_[graph].ended_log.push_back({place, task, state_.now});
    if (place == component.places.front() && component.is_mark[task]) {
        reach_mark(place, task);
    }
}

void Reuse::reach_mark(std::uint32_t place, std::uint32_t task) {
    const std::uint32_t graph = state_.workload.graph_of_place[place];
    std::erase_if(marks_reached_, [&](const auto& mark) { return mark.first == graph; });
    marks_reached_.emplace_back(graph, task);
}

bool Reuse::instant_is_over(std::uint32_t graph, const std::vector<Event>& pending) const {
    return std::ranges::none_of(pending, [&](const Event& event) {
        return event.time == state_.now && components_.owner_of(event) == graph;
    });
}

bool Reuse::skip_repeats(std::vector<Event>& pending) {
    bool moved = false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> later;
    for (const auto& [graph, mark] : std::exchange(marks_reached_, {})) {
        if (!instant_is_over(graph, pending)) {
            later.emplace_back(graph, mark);
            continue;
        }
        // Skipping changes the state that determines an event's owner.
        std::vector<bool> own;
        own.reserve(pending.size());
        for (const Event& event : pending) {
            own.push_back(components_.owner_of(event) == graph);
        }
        const std::optional<Skipped> skipped = consider(graph, mark, pending);
        if (!skipped.has_value()) {
            continue;
        }
        moved = true;
        last_skip_ = *skipped;
        for (std::size_t i = 0; i < pending.size(); ++i) {
            if (own[i]) {
                pending[i] = {pending[i].time + skipped->later_by,
                              renumbered_by_last_skip(pending[i].what)};
            }
        }
    }
    marks_reached_ = std::move(later);
    return moved;
}

/// Skips if the state equals that at one of the last marks; otherwise remembers it.
std::optional<Skipped> Reuse::consider(std::uint32_t graph, std::uint32_t mark,
                                       const std::vector<Event>& pending) {
    advance_lowest_open(graph);
    History& history = histories_[graph];
    Snapshot now = take_snapshot(state_, components_, graph, history, mark, pending);
    for (auto earlier = history.snapshots.rbegin(); earlier != history.snapshots.rend();
         ++earlier) {
        if (!now.is_image_of(*earlier)) {
            continue;
        }
        const std::uint32_t repeats =
            repeats_possible(state_, components_, graph, history, *earlier, now);
        if (repeats > 0 && arrivals_start_nothing(state_, components_[graph])) {
            const std::uint64_t events = state_.result.events;
            const Skipped skipped =
                sim::skip_repeats(state_, components_, graph, history, *earlier, now, repeats);
            skipped_events_ += state_.result.events - events;
            history.snapshots.clear();
            return skipped;
        }
    }
    remember(history, std::move(now));
    return std::nullopt;
}

void Reuse::advance_lowest_open(std::uint32_t graph) {
    const Component& component = components_[graph];
    const std::vector<Task>& tasks = state_.workload.graphs[graph].tasks;
    for (std::size_t i = 0; i < component.places.size(); ++i) {
        std::uint32_t& lowest = histories_[graph].lowest_open[i];
        while (lowest < tasks.size() &&
               (state_.task_needs[state_.index_of(component.places[i], lowest)] ==
                    RunState::kTaskEnded ||
                components_.shared(tasks[lowest]))) {
            ++lowest;
        }
    }
}

void Reuse::remember(History& history, Snapshot now) {
    std::deque<Snapshot>& snapshots = history.snapshots;
    now.state.shrink();
    snapshots.push_back(std::move(now));
    std::size_t bytes = 0;
    std::size_t largest = 0;
    for (const Snapshot& snapshot : snapshots) {
        bytes += snapshot.size_in_bytes();
        largest = std::max(largest, snapshot.size_in_bytes());
    }
    const std::size_t remembered = snapshots.size();
    const bool large = bytes > kLarge;
    const auto forget = [&](std::deque<Snapshot>::iterator snapshot) {
        bytes -= snapshot->size_in_bytes();
        snapshots.erase(snapshot);
    };
    while (snapshots.size() > (large ? kLargeSnapshots : kSnapshots)) {
        forget(snapshots.begin());
    }
    while (large && bytes > kTimesTheLargest * largest) {
        const auto early = std::ranges::find(snapshots, true, &Snapshot::early);
        forget(early == snapshots.end() ? snapshots.begin() : early);
    }
    if (snapshots.size() == remembered) {
        return;
    }
    // The log is only needed since the oldest snapshot.
    const std::size_t unneeded = snapshots.front().ended_tasks;
    history.ended_log.erase(history.ended_log.begin(),
                            history.ended_log.begin() + static_cast<std::ptrdiff_t>(unneeded));
    for (Snapshot& snapshot : snapshots) {
        snapshot.ended_tasks -= unneeded;
    }
}

}  // namespace podsim::sim
