// Exact reuse of what repeats.
//
// Identical layers reach a steady state. At the end of the first task of a layer (a mark) the whole
// state of the run is written down relative to the instant and to the mark: pending events, busy
// links and what waits for them, counters of open operations, needs of open tasks, with operations and tasks
// renumbered. If it equals the state at an earlier mark, the run between the two will repeat for as long as the
// tasks that it reaches have images with the same durations, schedules and dependencies one period
// on. Those repeats are skipped: the clock, the numbers and the totals move, the state stays.
//
// Why this is exact: the executor is a deterministic function of its state; shifting time and
// renumbering operations and tasks in their order changes no comparison that it makes. The period is the distance of
// the marks and may exceed one layer. A backlog that grows from layer to layer never repeats and is run out.
#include <algorithm>
#include <array>

#include "sim/executor_state.h"

namespace podsim::sim {
namespace {

constexpr std::size_t kSnapshots = 4;     ///< the longest period looked for, in marks
constexpr std::size_t kMostPlaces = 512;  ///< above this, snapshots cost more than they save

std::int64_t relative(Time time, Time now) {
    return time.ps - now.ps;
}

}  // namespace

void ExecutorState::prepare_reuse() {
    if (workload_.graphs.size() != 1 || workload_.graphs[0].marks.empty() ||
        machine_.places > kMostPlaces) {
        reuse_ = false;
        return;
    }
    const TaskGraph& graph = workload_.graphs[0];
    is_mark_.resize(graph.tasks.size());
    for (const std::uint32_t mark : graph.marks) {
        is_mark_[mark] = true;
    }
    std::uint32_t operations = 0;
    for (const Task& task : graph.tasks) {
        operations_before_.push_back(operations);
        // Renumbering needs operations in task order.
        if (task.operation != kNoOperation && task.operation != operations++) {
            reuse_ = false;
            return;
        }
    }
    task_ended_.resize(first_task_.back());
    lowest_open_.resize(machine_.places);
}

std::optional<Skipped> ExecutorState::consider_reuse(const std::vector<Event>& pending) {
    const std::uint32_t mark_task = mark_reached_;
    mark_reached_ = kNoTask;
    const auto tasks = static_cast<std::uint32_t>(workload_.graphs[0].tasks.size());
    for (std::uint32_t place = 0; place < machine_.places; ++place) {
        std::uint32_t& lowest = lowest_open_[place];
        while (lowest < tasks && task_ended_[first_task_[place] + lowest] != 0) {
            ++lowest;
        }
    }
    Snapshot now = take_snapshot(mark_task, pending);
    for (auto earlier = snapshots_.rbegin(); earlier != snapshots_.rend(); ++earlier) {
        if (earlier->state != now.state) {
            continue;
        }
        const std::uint32_t period = mark_task - earlier->mark;
        const std::uint32_t repeats = repeats_possible(*earlier, period);
        if (repeats > 0) {
            const Skipped skipped = skip(*earlier, period, repeats);
            snapshots_.clear();
            return skipped;
        }
    }
    snapshots_.push_back(std::move(now));
    if (snapshots_.size() > kSnapshots) {
        snapshots_.pop_front();
        // The log is only needed since the oldest snapshot.
        const std::size_t unneeded = snapshots_.front().ended_tasks;
        ended_log_.erase(ended_log_.begin(),
                         ended_log_.begin() + static_cast<std::ptrdiff_t>(unneeded));
        for (Snapshot& snapshot : snapshots_) {
            snapshot.ended_tasks -= unneeded;
        }
    }
    return std::nullopt;
}

Snapshot ExecutorState::take_snapshot(std::uint32_t mark_task,
                                      const std::vector<Event>& pending) const {
    Snapshot snapshot;
    snapshot.mark = mark_task;
    snapshot.now = now_;
    snapshot.events = result_.events;
    snapshot.ended_tasks = ended_log_.size();
    snapshot.lowest_open = *std::min_element(lowest_open_.begin(), lowest_open_.end());
    const std::uint32_t first_operation = operations_before_[mark_task];
    append_tasks(snapshot);
    append_operations(snapshot, first_operation);
    append_links(snapshot, first_operation);
    append_events(snapshot, first_operation, pending);
    snapshot.links.resize(servers_.size());
    for (std::size_t server = 0; server < servers_.size(); ++server) {
        snapshot.links[server] = {servers_.busy(server), servers_.carried(server)};
    }
    return snapshot;
}

void ExecutorState::append_message(std::vector<std::int64_t>& state, const Message& message,
                                   std::uint32_t first_operation) const {
    state.push_back(std::int64_t{message.operation} - first_operation);
    state.push_back(message.transfer);
    state.push_back(message.source);
    state.push_back(message.hop);
    state.push_back(message.hop == 0 ? 0 : relative(message.tail_arrival, now_));
}

/// Pending events in the order of time; within one time by what they are, since their order there
/// has no effect.
void ExecutorState::append_events(Snapshot& snapshot, std::uint32_t first_operation,
                                  const std::vector<Event>& pending) const {
    std::vector<std::vector<std::int64_t>> rows;
    rows.reserve(pending.size());
    for (const Event& event : pending) {
        std::vector<std::int64_t>& row = rows.emplace_back();
        const EventKind kind = EventCodec::kind(event.what);
        row.push_back(relative(event.time, now_));
        row.push_back(static_cast<std::int64_t>(kind));
        if (kind == EventKind::link_free) {
            row.push_back(canonical_link(EventCodec::number(event.what)));
        } else if (kind == EventKind::head_arrived) {
            append_message(row, messages_[EventCodec::number(event.what)], first_operation);
        } else {
            const EventCodec::Fields fields = codec_.fields(event.what);
            row.push_back(std::int64_t{fields.number} -
                          (kind == EventKind::transfer_arrived ? first_operation : snapshot.mark));
            row.push_back(fields.place);
            row.push_back(fields.transfer);
        }
    }
    std::sort(rows.begin(), rows.end());
    for (const auto& row : rows) {
        snapshot.state.insert(snapshot.state.end(), row.begin(), row.end());
    }
}

/// The sets of links that hold state, by their first server: of isolated operations, those of the
/// open ones, in their order.
std::vector<std::uint32_t> ExecutorState::first_servers_in_use() const {
    if (!machine_.isolated_operations) {
        return {0};
    }
    std::vector<std::uint32_t> sets;
    for (const Operation& operation : operations_) {
        if (operation.table != nullptr) {
            sets.push_back(operation.first_server);
        }
    }
    return sets;
}

/// A server's number that does not depend on which set of links its operation happens to have.
std::int64_t ExecutorState::canonical_link(std::uint32_t server) const {
    const std::vector<std::uint32_t> sets = first_servers_in_use();
    const std::uint32_t link = server % links_per_set();
    const auto set = std::find(sets.begin(), sets.end(), server - link);
    return (set - sets.begin()) * std::int64_t{links_per_set()} + link;
}

void ExecutorState::append_links(Snapshot& snapshot, std::uint32_t first_operation) const {
    for (const std::uint32_t first_server : first_servers_in_use()) {
        for (std::uint32_t link = 0; link < links_per_set(); ++link) {
            const std::uint32_t server = first_server + link;
            snapshot.state.push_back(
                std::max<std::int64_t>(relative(servers_.free_at(server), now_), 0));
            snapshot.state.push_back(servers_.free_event_due(server) ? 1 : 0);
            std::vector<Waiting> waiting = servers_.waiting(server);
            std::sort(waiting.begin(), waiting.end(),
                      [this](const Waiting& a, const Waiting& b) { return goes_before(a, b); });
            snapshot.state.push_back(static_cast<std::int64_t>(waiting.size()));
            for (const Waiting& next : waiting) {
                // Class and phase follow from the operation and the transfer; of the arrival, the order
                // and whether it was at this very instant decide what comes.
                snapshot.state.push_back(next.instant() == instant_number_ ? 1 : 0);
                append_message(snapshot.state, message_of(next), first_operation);
            }
        }
    }
}

void ExecutorState::append_operations(Snapshot& snapshot, std::uint32_t first_operation) const {
    for (std::uint32_t index = 0; index < operations_.size(); ++index) {
        const Operation& operation = operations_[index];
        if (operation.table == nullptr) {
            continue;
        }
        snapshot.state.push_back(std::int64_t{index} - first_operation);
        snapshot.state.push_back(workload_.operations[index].schedule);
        snapshot.state.insert(snapshot.state.end(), operation.counters.begin(),
                              operation.counters.end());
        std::vector<std::uint32_t> early;
        for (const PlaceState& place : operation.places) {
            snapshot.state.push_back(place.pending);
            snapshot.state.push_back(place.early == PlaceState::kStarted ? 1 : 0);
            if (place.early == PlaceState::kStarted) {
                continue;
            }
            early.clear();
            for (std::uint32_t at = place.early; at != PlaceState::kNone;
                 at = operation.early[at].next) {
                early.push_back(operation.early[at].transfer);
            }
            std::sort(early.begin(), early.end());
            snapshot.state.push_back(static_cast<std::int64_t>(early.size()));
            snapshot.state.insert(snapshot.state.end(), early.begin(), early.end());
        }
        for (const std::uint32_t task : operation.task) {
            snapshot.state.push_back(
                task == kNoTask ? -1 : std::int64_t{task} - snapshot.mark + (1LL << 40));
        }
    }
}

/// Needs, and when it began, of every task between the first that is open anywhere and the last that
/// was touched.
void ExecutorState::append_tasks(Snapshot& snapshot) const {
    snapshot.state.push_back(std::int64_t{snapshot.lowest_open} - snapshot.mark);
    snapshot.state.push_back(std::int64_t{highest_touched_} - snapshot.mark);
    for (std::uint32_t place = 0; place < machine_.places; ++place) {
        for (std::uint32_t task = snapshot.lowest_open; task <= highest_touched_; ++task) {
            const std::size_t at = first_task_[place] + task;
            if (task_ended_[at] != 0) {
                snapshot.state.push_back(-1);
                continue;
            }
            // When a running task began decides nothing, but is reported.
            snapshot.state.push_back(task_needs_[at]);
            snapshot.state.push_back(task_needs_[at] == 0 ? relative(began_[at], now_) : 0);
        }
    }
}

/// Whether two tasks do the same work with the same relations to their neighbours.
bool ExecutorState::same_task(std::uint32_t a, std::uint32_t b) const {
    const Task& first = workload_.graphs[0].tasks[a];
    const Task& second = workload_.graphs[0].tasks[b];
    const auto same_distances = [a, b](const std::vector<std::uint32_t>& of_a,
                                       const std::vector<std::uint32_t>& of_b) {
        return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                          [a, b](std::uint32_t x, std::uint32_t y) {
                              return std::int64_t{x} - a == std::int64_t{y} - b;
                          });
    };
    if (first.duration != second.duration || first.resource != second.resource ||
        (first.operation == kNoOperation) != (second.operation == kNoOperation) ||
        !same_distances(first.after, second.after) ||
        !same_distances(successors_[0][a], successors_[0][b])) {
        return false;
    }
    if (first.operation == kNoOperation) {
        return initial_needs_[0][a] == initial_needs_[0][b];
    }
    const OperationSpec& of_first = workload_.operations[first.operation];
    const OperationSpec& of_second = workload_.operations[second.operation];
    return of_first.schedule == of_second.schedule && of_first.placement == of_second.placement &&
           of_first.priority_class == of_second.priority_class;
}

/// How often the run since `from` repeats: its tasks, those already touched included, must be the
/// same one period on, for each repeat.
std::uint32_t ExecutorState::repeats_possible(const Snapshot& from, std::uint32_t period) const {
    const auto tasks = static_cast<std::uint32_t>(workload_.graphs[0].tasks.size());
    std::uint32_t same_until = from.lowest_open;
    while (same_until + period < tasks && same_task(same_until, same_until + period)) {
        ++same_until;
    }
    return same_until <= highest_touched_ ? 0 : (same_until - highest_touched_ - 1) / period + 1;
}

Skipped ExecutorState::skip(const Snapshot& from, std::uint32_t period, std::uint32_t repeats) {
    const Time span = now_ - from.now;
    const Time shift = span * repeats;
    const std::uint32_t tasks = period * repeats;
    const std::uint32_t mark_task = from.mark + period;
    const std::uint32_t operations =
        (operations_before_[mark_task] - operations_before_[from.mark]) * repeats;

    // Open tasks: their state moves to their images.
    struct OpenTask {
        std::size_t image = 0;
        std::uint32_t needs = 0;
        Time began;
    };
    std::vector<OpenTask> open;
    for (std::uint32_t place = 0; place < machine_.places; ++place) {
        for (std::uint32_t task = from.lowest_open; task <= highest_touched_; ++task) {
            const std::size_t at = first_task_[place] + task;
            if (task_ended_[at] == 0) {
                open.push_back({at + tasks, task_needs_[at], began_[at] + shift});
            }
        }
        result_.end_of_place[place] += shift;
    }
    // What ended in the period ends again in each repeat.
    for (std::size_t i = from.ended_tasks; i < ended_log_.size(); ++i) {
        const EndedTask& ended = ended_log_[i];
        for (std::uint32_t repeat = 1; repeat <= repeats; ++repeat) {
            const std::uint32_t task = ended.task + period * repeat;
            const Time later_by = span * repeat;
            task_ended_[first_task_[ended.place] + task] = 1;
            if (observer_ != nullptr) {
                observer_->task_ended(PlaceId(ended.place), TaskId(task), ended.began + later_by,
                                      ended.ended + later_by);
            }
        }
    }
    if (observer_ != nullptr) {
        observer_->repeated(now_, span, operations / repeats, repeats);
    }
    open_tasks_ -= (ended_log_.size() - from.ended_tasks) * repeats;
    const std::uint64_t skipped_events = (result_.events - from.events) * repeats;
    result_.events += skipped_events;
    skipped_events_ += skipped_events;
    for (const OpenTask& task : open) {
        task_ended_[task.image] = 0;
        task_needs_[task.image] = task.needs;
        began_[task.image] = task.began;
    }
    highest_touched_ += tasks;

    for (std::uint32_t index = static_cast<std::uint32_t>(operations_.size()); index-- > 0;) {
        if (operations_[index].table == nullptr) {
            continue;
        }
        for (std::uint32_t& task : operations_[index].task) {
            task = task == kNoTask ? kNoTask : task + tasks;
        }
        operations_[index + operations] = std::move(operations_[index]);
        operations_[index] = Operation{};
    }
    for (Message& message : messages_) {
        message.operation += operations;
        message.tail_arrival += shift;
    }
    const auto renumber = [&](Waiting& waiting) {
        const std::uint32_t operation = operation_of_priority_[waiting.priority()];
        waiting.order +=
            std::uint64_t{first_priority_[operation + operations] - first_priority_[operation]}
            << Waiting::kInstantBits;
    };
    for (std::size_t server = 0; server < servers_.size(); ++server) {
        const LinkTotals before = server < from.links.size() ? from.links[server] : LinkTotals{};
        servers_.skip(server, shift, renumber, repeats, before.busy, before.carried_units);
    }
    now_ += shift;
    result_.end = now_;
    ended_log_.clear();
    return {.later_by = shift, .tasks = tasks, .operations = operations};
}

/// What an event says, that many tasks and operations further on.
std::uint64_t ExecutorState::renumbered(std::uint64_t what, const Skipped& skipped) const {
    const EventKind kind = EventCodec::kind(what);
    if (kind == EventKind::link_free || kind == EventKind::head_arrived) {
        return what;
    }
    EventCodec::Fields fields = codec_.fields(what);
    fields.number += kind == EventKind::transfer_arrived ? skipped.operations : skipped.tasks;
    return codec_.of(kind, fields);
}

}  // namespace podsim::sim
