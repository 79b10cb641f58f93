// How often a stretch of a run may be repeated, from the task graph alone and from what other graphs may yet send.
#pragma once

#include <cstdint>

#include "sim/reuse/components.h"
#include "sim/reuse/snapshot.h"
#include "sim/state/run_state.h"

namespace podsim::sim {

/// How often the run of the component between two snapshots, of which `now` is the image of `from`, repeats: its tasks,
/// those already touched included, must be the same one period on, for each repeat, and none of them one of those far
/// ahead.
std::uint32_t repeats_possible(const RunState& state, const Components& components,
                               std::uint32_t graph, const Snapshot& from, const Snapshot& now);

/// Whether two tasks of a graph do the same work with the same relations to their neighbours, none of which take part
/// in operations with other graphs.
bool same_task(const RunState& state, const Components& components, std::uint32_t graph,
               std::uint32_t a, std::uint32_t b);

/// Whether what comes from other graphs meanwhile ends only tasks for which nothing waits alone: whatever depends on
/// one also needs a task of its own graph, which is none of those that repeat. So it may as well come later.
bool arrivals_start_nothing(const RunState& state, const Component& component);

}  // namespace podsim::sim
