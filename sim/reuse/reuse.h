// Exact reuse of what repeats.
//
// Identical layers reach a steady state. At the end of some tasks of each layer, or a picosecond before it (a mark), the whole
// state of a component is written down relative to the instant and to the mark (take_snapshot.h): pending events, busy links and what waits
// for them, counters of open operations, needs of open tasks, with operations and tasks renumbered. If it equals the
// state at an earlier mark (snapshot.h), the run between the two will repeat for as long as the tasks that it starts
// have images with the same durations, schedules and dependencies one period on, and no other task starts
// (repeats_possible.h). Those repeats are skipped: the clock, the numbers and the totals move, the state stays, and what
// follows the tasks that have ended meanwhile has so many needs less (skip_repeats.h).
//
// Why this is exact: the executor is a deterministic function of its state; shifting time and renumbering operations
// and tasks in their order changes no comparison that it makes. The period is the distance of the marks and may exceed
// one layer. A backlog that grows from layer to layer never repeats and is run out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/queue/event.h"
#include "sim/reuse/components.h"
#include "sim/reuse/history.h"
#include "sim/reuse/skip_repeats.h"
#include "sim/state/pending_events.h"
#include "sim/state/run_state.h"

namespace podsim::sim {

/// Beside a run, which tells it what its tasks do and asks it to skip, round by round.
class Reuse {
public:
    /// Of a run that has not begun, which from now on keeps when its tasks begin.
    explicit Reuse(RunState& state);

    /// Whether some component may repeat. Where none does, nobody need call what follows.
    [[nodiscard]] bool possible() const { return components_.any_marks(); }

    /// A task has started, or a task of its own graph (`is_own`) has changed its needs.
    void touch(std::uint32_t place, std::uint32_t task) {
        if (is_own(place, task)) {
            History& history = histories_[state_.workload.graph_of_place[place]];
            history.highest_touched = std::max(history.highest_touched, task);
        }
    }
    /// Whether the task takes no part in operations with other graphs.
    [[nodiscard]] bool is_own(std::uint32_t place, std::uint32_t task) const {
        return !components_.shared(state_.graph_at(place).tasks[task]);
    }
    void task_ended(std::uint32_t place, std::uint32_t task);
    /// Whether an event must be posted a picosecond before the task ends, which calls reach_mark.
    [[nodiscard]] bool is_early_mark(std::uint32_t place, std::uint32_t task) const {
        const Component& component = components_[state_.workload.graph_of_place[place]];
        return !component.is_early_mark.empty() && component.is_early_mark[task] &&
               place == component.places.front() && is_own(place, task);
    }
    void reach_mark(std::uint32_t place, std::uint32_t task);

    /// Whether a mark has ended that has not been considered.
    [[nodiscard]] bool mark_reached() const { return !marks_reached_.empty(); }
    /// Between rounds: skips what repeats of the components that have reached a mark, and moves their events among
    /// `pending`, which are all. Whether any has moved. A component some of whose events belong to this instant is
    /// considered when they have been played.
    bool skip_repeats(std::vector<Event>& pending);

    /// How far the last component that skipped has moved; where there is one component, so has all that is pending.
    [[nodiscard]] const Skipped& last_skip() const { return last_skip_; }
    /// What an event of that component says after that.
    [[nodiscard]] std::uint64_t renumbered_by_last_skip(std::uint64_t what) const {
        return renumbered(state_, components_, what, last_skip_);
    }
    /// Of the run's events, those that have been skipped so far.
    [[nodiscard]] std::uint64_t skipped_events() const { return skipped_events_; }

private:
    [[nodiscard]] bool instant_is_over(std::uint32_t graph,
                                       const std::vector<Event>& pending) const;
    std::optional<Skipped> consider(std::uint32_t graph, std::uint32_t mark,
                                    const std::vector<Event>& pending);
    void advance_lowest_open(std::uint32_t graph);
    static void remember(History& history, Snapshot now);

    RunState& state_;
    Components components_;
    std::vector<History> histories_;  ///< [graph]
    /// (graph, task): by graph, the mark that has ended at its first place.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> marks_reached_;
    Skipped last_skip_;
    std::uint64_t skipped_events_ = 0;
};

}  // namespace podsim::sim
