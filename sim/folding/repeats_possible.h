// Computes how often a stretch of a run may repeat, from the task graph and from possible arrivals
// of other graphs.
#pragma once

#include <cstdint>

#include "sim/folding/components.h"
#include "sim/folding/history.h"
#include "sim/state/run_state.h"

namespace podsim::sim {

/// Returns how often the run of the component between two snapshots of its history repeats. `now`
/// is the image of `from`.
///
/// In each repeat, a task that has started by its end must begin alike one period later. Its
/// operation must be the same number of operations later, and the task must not be one of those far
/// ahead. Each successor of a task that ends in the repeat must have started too, or wait for
/// another task. That successor may be numbered differently, or do something else.
std::uint32_t repeats_possible(const RunState& state, const Components& components,
                               std::uint32_t graph, const History& history, const Snapshot& from,
                               const Snapshot& now);

/// True if two tasks of a graph do the same work after the same tasks, neither in operations with
/// other graphs nor after such operations. Their successors matter only when they end.
bool begin_alike(const RunState& state, const Components& components, std::uint32_t graph,
                 std::uint32_t a, std::uint32_t b);
/// True if they also have the same successors, none of which participates in operations with other
/// graphs.
bool same_task(const RunState& state, const Components& components, std::uint32_t graph,
               std::uint32_t a, std::uint32_t b);

/// True if arrivals from other graphs start nothing meanwhile: every task that depends on one also
/// needs a task of its own graph that does not repeat. So the arrival may as well be later.
bool arrivals_start_nothing(const RunState& state, const Component& component);

}  // namespace podsim::sim
