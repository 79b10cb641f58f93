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
#include <map>
#include <utility>

#include "sim/state/run_state.h"

namespace podsim::sim {
namespace {

constexpr std::size_t kSnapshots = 4;  ///< the longest period looked for, in marks
constexpr std::int64_t kEnded = -1;

std::int64_t relative(Time time, Time now) {
    return time.ps - now.ps;
}

}  // namespace

bool ExecutorState::consider_reuse(std::vector<Event>& pending) {
    bool moved = false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> later;
    for (const auto& [graph, mark_task] : std::exchange(marks_reached_, {})) {
        const Component& component = components_[graph];
        // The component's instant is not over yet.
        if (std::ranges::any_of(pending, [&, graph = graph](const Event& event) {
                return event.time == now_ && owner_of(event) == graph;
            })) {
            later.emplace_back(graph, mark_task);
            continue;
        }
        std::vector<bool> own;
        own.reserve(pending.size());
        for (const Event& event : pending) {
            own.push_back(owner_of(event) == graph);
        }
        const std::optional<Skipped> skipped = consider(graph, mark_task, pending);
        for (std::size_t i = 0; skipped.has_value() && i < pending.size(); ++i) {
            if (own[i]) {
                pending[i] = {pending[i].time + skipped->later_by,
                              renumbered(pending[i].what, component, *skipped)};
            }
        }
        if (skipped.has_value()) {
            moved = true;
            last_skip_ = *skipped;
        }
    }
    marks_reached_ = std::move(later);
    return moved;
}

std::optional<Skipped> ExecutorState::consider(std::uint32_t graph, std::uint32_t mark_task,
                                               const std::vector<Event>& pending) {
    Component& component = components_[graph];
    const std::vector<Task>& tasks = workload_.graphs[graph].tasks;
    for (std::size_t i = 0; i < component.places.size(); ++i) {
        std::uint32_t& lowest = component.lowest_open[i];
        while (lowest < tasks.size() &&
               (task_ended_[first_task_[component.places[i]] + lowest] != 0 ||
                shared(tasks[lowest]))) {
            ++lowest;
        }
    }
    std::deque<Snapshot>& snapshots = component.snapshots;
    Snapshot now = take_snapshot(component, mark_task, pending);
    for (auto earlier = snapshots.rbegin(); earlier != snapshots.rend(); ++earlier) {
        if (!now.repeats(*earlier)) {
            continue;
        }
        const std::uint32_t repeats = repeats_possible(component, *earlier, now);
        if (repeats > 0 && arrivals_start_nothing(component)) {
            const Skipped skipped = skip(component, *earlier, now, repeats);
            snapshots.clear();
            return skipped;
        }
    }
    snapshots.push_back(std::move(now));
    if (snapshots.size() > kSnapshots) {
        snapshots.pop_front();
        // The log is only needed since the oldest snapshot.
        const std::size_t unneeded = snapshots.front().ended_tasks;
        component.ended_log.erase(
            component.ended_log.begin(),
            component.ended_log.begin() + static_cast<std::ptrdiff_t>(unneeded));
        for (Snapshot& snapshot : snapshots) {
            snapshot.ended_tasks -= unneeded;
        }
    }
    return std::nullopt;
}

Snapshot ExecutorState::take_snapshot(const Component& component, std::uint32_t mark_task,
                                      const std::vector<Event>& pending) const {
    Snapshot snapshot;
    snapshot.mark = mark_task;
    snapshot.now = now_;
    snapshot.ended_tasks = component.ended_log.size();
    snapshot.lowest_open = *std::ranges::min_element(component.lowest_open);
    append_tasks(snapshot, component);
    append_operations(snapshot, component);
    append_links(snapshot, component);
    append_events(snapshot, component, pending);
    for (const std::uint32_t link : component.links) {
        snapshot.links.push_back(totals_of(link));
    }
    return snapshot;
}

/// Over all sets of links.
LinkTotals ExecutorState::totals_of(std::uint32_t link) const {
    LinkTotals totals;
    for (std::size_t server = link; server < servers_.size(); server += links_per_set()) {
        totals.busy += servers_.busy(server);
        totals.carried_units += servers_.carried(server);
    }
    return totals;
}

std::array<std::int64_t, 5> ExecutorState::numbers_of(const Message& message,
                                                      const Component& component,
                                                      const Snapshot& snapshot) const {
    return {relative_number(component, snapshot, message.operation), message.transfer,
            message.source, message.hop,
            message.hop == 0 ? 0 : relative(message.tail_arrival, now_)};
}

/// Pending events in the order of time; within one time by what they are, since their order there
/// has no effect.
void ExecutorState::append_events(Snapshot& snapshot, const Component& component,
                                  const std::vector<Event>& pending) const {
    const std::uint32_t graph = workload_.graph_of_place[component.places.front()];
    std::vector<std::array<std::int64_t, 7>> rows;
    rows.reserve(pending.size());
    for (const Event& event : pending) {
        if (owner_of(event) != graph) {
            continue;
        }
        const EventKind kind = EventCodec::kind(event.what);
        std::array<std::int64_t, 7>& row = rows.emplace_back();
        row[0] = relative(event.time, now_);
        row[1] = static_cast<std::int64_t>(kind);
        if (kind == EventKind::link_free) {
            row[2] = canonical_link(component, EventCodec::number(event.what));
        } else if (kind == EventKind::head_arrived) {
            std::ranges::copy(
                numbers_of(messages_[EventCodec::number(event.what)], component, snapshot),
                &row[2]);
        } else {
            const EventCodec::Fields fields = codec_.fields(event.what);
            row[2] = kind == EventKind::transfer_arrived
                         ? relative_number(component, snapshot, fields.number)
                         : std::int64_t{fields.number} - snapshot.mark;
            row[3] = fields.place;
            row[4] = fields.transfer;
        }
    }
    std::ranges::sort(rows);
    snapshot.state.push_back(static_cast<std::int64_t>(rows.size()));
    for (const auto& row : rows) {
        for (const std::int64_t number : row) {
            snapshot.state.push_back(number);
        }
    }
}

/// The sets of links that hold state, by their first server: of isolated operations, those of the
/// open ones, in their order.
std::vector<std::uint32_t> ExecutorState::first_servers_in_use(const Component& component) const {
    if (!machine_.isolated_operations) {
        return {0};
    }
    std::vector<std::uint32_t> sets;
    for (const std::uint32_t operation : component.operations) {
        if (operations_[operation].table != nullptr) {
            sets.push_back(operations_[operation].first_server);
        }
    }
    return sets;
}

/// A server's number that does not depend on which set of links its operation happens to have.
std::int64_t ExecutorState::canonical_link(const Component& component, std::uint32_t server) const {
    if (!machine_.isolated_operations) {
        return server;
    }
    const std::vector<std::uint32_t> sets = first_servers_in_use(component);
    const std::uint32_t link = server % links_per_set();
    const auto set = std::find(sets.begin(), sets.end(), server - link);
    return (set - sets.begin()) * std::int64_t{links_per_set()} + link;
}

void ExecutorState::append_links(Snapshot& snapshot, const Component& component) const {
    for (const std::uint32_t first_server : first_servers_in_use(component)) {
        for (const std::uint32_t link : component.links) {
            const std::uint32_t server = first_server + link;
            snapshot.state.push_back(
                std::max<std::int64_t>(relative(servers_.free_at(server), now_), 0));
            snapshot.state.push_back(servers_.free_event_due(server) ? 1 : 0);
            std::vector<Waiting> waiting = servers_.waiting(server);
            std::sort(waiting.begin(), waiting.end(),
                      [this](const Waiting& a, const Waiting& b) { return goes_before(a, b); });
            snapshot.state.push_back(static_cast<std::int64_t>(waiting.size()));
            for (const Waiting& next : waiting) {
                // Class and phase follow from the operation and the transfer; of the arrival the order
                // decides what comes, since nothing more comes in this instant.
                for (const std::int64_t number :
                     numbers_of(message_of(next), component, snapshot)) {
                    snapshot.state.push_back(number);
                }
            }
        }
    }
}

void ExecutorState::append_operations(Snapshot& snapshot, const Component& component) const {
    for (const std::uint32_t index : component.operations) {
        const Operation& operation = operations_[index];
        if (operation.table == nullptr) {
            continue;
        }
        snapshot.state.push_back(relative_number(component, snapshot, index));
        snapshot.state.push_back(workload_.operations[index].schedule);
        snapshot.state.append(operation.counters);
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
            for (const std::uint32_t transfer : early) {
                snapshot.state.push_back(transfer);
            }
        }
        for (const std::uint32_t task : operation.task) {
            snapshot.state.push_back(task == kNoTask ? kNoTask
                                                     : std::int64_t{task} - snapshot.mark);
        }
    }
}

/// Tasks are touched when they, or some of their needs, have ended: all others are as at the beginning.
void ExecutorState::append_tasks(Snapshot& snapshot, const Component& component) const {
    const std::uint32_t graph = workload_.graph_of_place[component.places.front()];
    const std::vector<std::uint32_t>& initial = initial_needs_[graph];
    for (std::uint32_t task = snapshot.lowest_open; task <= component.highest_touched; ++task) {
        if (shared(workload_.graphs[graph].tasks[task]) ||
            std::ranges::all_of(component.places, [&](std::uint32_t place) {
                const std::size_t at = first_task_[place] + task;
                return task_ended_[at] == 0 && task_needs_[at] == initial[task] &&
                       initial[task] > 0;
            })) {
            continue;
        }
        snapshot.tasks.push_back(task);
        for (const std::uint32_t place : component.places) {
            const std::size_t at = first_task_[place] + task;
            const bool ended = task_ended_[at] != 0;
            // When a running task began decides nothing, but is reported.
            snapshot.needs.push_back(ended ? kEnded : task_needs_[at]);
            snapshot.needs.push_back(ended || task_needs_[at] != 0 ? 0
                                                                   : relative(began_[at], now_));
        }
    }
}

std::size_t Snapshot::near_tasks(std::uint32_t period) const {
    std::uint32_t last = mark;
    std::size_t near = 0;
    while (near < tasks.size() && tasks[near] <= last + period) {
        last = std::max(last, tasks[near++]);
    }
    return near;
}

bool Snapshot::repeats(const Snapshot& earlier) const {
    const std::uint32_t period = mark - earlier.mark;
    const std::size_t near = near_tasks(period);
    if (state != earlier.state || needs != earlier.needs || tasks.size() != earlier.tasks.size() ||
        near != earlier.near_tasks(period) || near == 0 ||
        lowest_open - earlier.lowest_open != period) {
        return false;
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (tasks[i] != earlier.tasks[i] + (i < near ? period : 0)) {
            return false;
        }
    }
    // No far task runs.
    const std::size_t width = needs.size() / tasks.size();
    for (std::size_t i = near * width; i < needs.size(); i += 2) {
        if (needs[i] == 0) {
            return false;
        }
    }
    return true;
}

/// Whether two tasks do the same work with the same relations to their neighbours, none of which others share.
bool ExecutorState::same_task(std::uint32_t graph, std::uint32_t a, std::uint32_t b) const {
    const std::vector<Task>& tasks = workload_.graphs[graph].tasks;
    const Task& first = tasks[a];
    const Task& second = tasks[b];
    const auto same_distances = [a, b](const std::vector<std::uint32_t>& of_a,
                                       const std::vector<std::uint32_t>& of_b) {
        return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                          [a, b](std::uint32_t x, std::uint32_t y) {
                              return std::int64_t{x} - a == std::int64_t{y} - b;
                          });
    };
    const auto has_shared = [&](const Task& task, const std::vector<std::uint32_t>& successors) {
        const auto is_shared = [&](std::uint32_t other) { return shared(tasks[other]); };
        return shared(task) || std::ranges::any_of(task.after, is_shared) ||
               std::ranges::any_of(successors, is_shared);
    };
    if (first.duration != second.duration || first.resource != second.resource ||
        (first.operation == kNoOperation) != (second.operation == kNoOperation) ||
        !same_distances(first.after, second.after) ||
        !same_distances(successors_[graph][a], successors_[graph][b]) ||
        has_shared(first, successors_[graph][a]) || has_shared(second, successors_[graph][b])) {
        return false;
    }
    if (first.operation == kNoOperation) {
        return initial_needs_[graph][a] == initial_needs_[graph][b];
    }
    const OperationSpec& of_first = workload_.operations[first.operation];
    const OperationSpec& of_second = workload_.operations[second.operation];
    return of_first.schedule == of_second.schedule && of_first.placement == of_second.placement &&
           of_first.priority_class == of_second.priority_class;
}

/// How often the run since `from` repeats: its tasks, those already touched included, must be the
/// same one period on, for each repeat, and none of them one of those far ahead.
std::uint32_t ExecutorState::repeats_possible(const Component& component, const Snapshot& from,
                                              const Snapshot& now) const {
    const std::uint32_t graph = workload_.graph_of_place[component.places.front()];
    const std::uint32_t period = now.mark - from.mark;
    const std::uint32_t touched = now.touched(period);
    const std::size_t far = now.near_tasks(period);
    const auto end = far < now.tasks.size()
                         ? now.tasks[far]
                         : static_cast<std::uint32_t>(workload_.graphs[graph].tasks.size());
    std::uint32_t same_until = from.lowest_open;
    while (same_until + period < end && same_task(graph, same_until, same_until + period)) {
        ++same_until;
    }
    return same_until <= touched ? 0 : (same_until - touched - 1) / period + 1;
}

/// What comes from other graphs meanwhile ends only tasks for which nothing waits alone: whatever depends on one
/// also needs a task of its own graph, which is none of those that repeat. So it may as well come later.
bool ExecutorState::arrivals_start_nothing(const Component& component) const {
    const std::uint32_t graph = workload_.graph_of_place[component.places.front()];
    for (const std::uint32_t place : component.places) {
        std::map<std::uint32_t, std::uint32_t> from_others;
        for (const std::uint32_t task : component.shared_tasks) {
            if (task_ended_[first_task_[place] + task] == 0) {
                for (const std::uint32_t next : successors_[graph][task]) {
                    ++from_others[next];
                }
            }
        }
        for (const auto& [task, needs] : from_others) {
            if (task_needs_[first_task_[place] + task] <= needs) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace podsim::sim
