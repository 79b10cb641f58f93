// Exact reuse of repeated stretches of a run.
//
// Identical layers reach a steady state. A mark is the end of certain tasks of each layer, or a
// picosecond before it. At a mark, the whole state of a component is recorded relative to the
// instant and to the mark (take_snapshot.h): pending events, busy links and their waiting messages,
// counters of open operations, needs of open tasks. Operations and tasks are renumbered. If the
// state equals that at an earlier mark (snapshot.h), the run between the two repeats. It does so as
// long as the tasks that it starts have images with the same durations, schedules and dependencies
// one period later, and no other task starts (repeats_possible.h). Those repeats are skipped:
// the clock, the numbers and the totals move and the state stays. The successors
// of tasks that have ended meanwhile have fewer needs accordingly.
//
// This is exact because the executor is a deterministic function of its state: shifting time and
// renumbering operations and tasks in their order changes none of its comparisons. The period is
// the distance of the marks and may exceed one layer. A backlog that grows from layer to layer
// never repeats and is played in full.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/folding/components.h"
#include "sim/folding/history.h"
#include "sim/folding/snapshot.h"
#include "sim/queue/event.h"
#include "sim/state/pending_events.h"
#include "sim/state/run_state.h"

namespace podsim::sim {

/// Repeats the run of the component of `graph` between two snapshots; `now` is the present state
/// and the image of `from`. Its tasks end and its links carry as often as in the full run, and the
/// observer is notified. The history's log is consumed. The caller must then move the pending
/// events by the result; the clock stays.
Skipped skip_repeats(RunState& state, const Components& components, std::uint32_t graph,
                     History& history, const Snapshot& from, const Snapshot& now,
                     std::uint32_t repeats);

/// Returns the content of an event of the component after the skip.
std::uint64_t renumbered(const RunState& state, const Components& components, std::uint64_t what,
                         const Skipped& skipped);

/// Observes a run's tasks and skips repeats on request. The run reports to it round by round.
class Reuse {
public:
    /// Precondition: the run has not begun. From now on it records when its tasks start.
    explicit Reuse(RunState& state);

    /// True if any component may repeat. If false, the functions below need not be called.
    [[nodiscard]] bool possible() const { return components_.any_marks(); }

    /// Reports that a task has started, or that a task of its own graph (`is_own`) has changed its
    /// needs.
    void touch(std::uint32_t place, std::uint32_t task) {
        if (is_own(place, task)) {
            History& history = histories_[state_.workload.graph_of_place[place]];
            history.highest_touched = std::max(history.highest_touched, task);
        }
    }
    /// True if the task does not participate in operations with other graphs.
    [[nodiscard]] bool is_own(std::uint32_t place, std::uint32_t task) const {
        return !components_.shared(state_.graph_at(place).tasks[task]);
    }
    void task_ended(std::uint32_t place, std::uint32_t task);
    /// True if an event must be posted a picosecond before the task ends, to call reach_mark.
    [[nodiscard]] bool is_early_mark(std::uint32_t place, std::uint32_t task) const {
        const Component& component = components_[state_.workload.graph_of_place[place]];
        return !component.is_early_mark.empty() && component.is_early_mark[task] &&
               place == component.places.front() && is_own(place, task);
    }
    void reach_mark(std::uint32_t place, std::uint32_t task);

    /// True if a mark has been reached that has not been considered.
    [[nodiscard]] bool mark_reached() const { return !marks_reached_.empty(); }
    /// Skips the repeats of components that have reached a mark, between rounds. `pending` holds
    /// all pending events; those of the components move. Returns true if any has moved. A component
    /// with events of this instant is considered after they have been played.
    bool skip_repeats(std::vector<Event>& pending);

    /// Returns the distance that the last skipping component has moved. With a single component,
    /// all pending events have moved by it.
    [[nodiscard]] const Skipped& last_skip() const { return last_skip_; }
    /// Returns the content of an event of that component after the skip.
    [[nodiscard]] std::uint64_t renumbered_by_last_skip(std::uint64_t what) const {
        return renumbered(state_, components_, what, last_skip_);
    }
    /// Returns the number of the run's events that have been skipped so far.
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
    /// (graph, task), one for each graph: the mark reached at its first place.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> marks_reached_;
    Skipped last_skip_;
    std::uint64_t skipped_events_ = 0;
};

}  // namespace podsim::sim
