#include "sim/reuse/reuse.h"

#include "sim/reuse/repeats_possible.h"
#include "sim/reuse/take_snapshot.h"

namespace podsim::sim {
namespace {

/// How many states are remembered, of two marks in each layer: those of sixteen layers; where they are large together those of four,
/// and of the early ones as many as leave all at four times the largest.
constexpr std::size_t kSnapshots = 32;
constexpr std::size_t kLargeSnapshots = 8;
constexpr std::size_t kLarge = std::size_t{1} << 20;
constexpr std::size_t kTimesTheLargest = 4;

}  // namespace

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
        // Skipping moves what says whose an event is.
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

/// Skips if the state is that at one of the last marks; otherwise remembers it.
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
