// How often a stretch of a run may be repeated, from the task graph alone and from what other graphs may yet send.
#pragma once

#include <cstdint>

#include "sim/reuse/components.h"
#include "sim/reuse/history.h"
#include "sim/state/run_state.h"

namespace podsim::sim {

/// How often the run of the component between two snapshots of its history, of which `now` is the image of `from`,
/// repeats. For each repeat, what has started by its end must begin in the same way one period on, as the operation that is
/// as many on, and must not be one of the tasks far ahead; and what follows the tasks that end in it must have started,
/// too, or wait for another, whatever it is: it may be numbered differently there, or do something else.
std::uint32_t repeats_possible(const RunState& state, const Components& components,
                               std::uint32_t graph, const History& history, const Snapshot& from,
                               const Snapshot& now);

/// Whether two tasks of a graph do the same work after the same tasks, neither in operations with other graphs nor after
/// one of those. What comes after them counts only when they end.
bool begin_alike(const RunState& state, const Components& components, std::uint32_t graph,
                 std::uint32_t a, std::uint32_t b);
/// Whether they also have the same tasks after them, none of which takes part in operations with other graphs.
bool same_task(const RunState& state, const Components& components, std::uint32_t graph,
               std::uint32_t a, std::uint32_t b);

/// Whether what comes from other graphs meanwhile ends only tasks for which nothing waits alone: whatever depends on
/// one also needs a task of its own graph, which is none of those that repeat. So it may as well come later.
bool arrivals_start_nothing(const RunState& state, const Component& component);

}  // namespace podsim::sim
