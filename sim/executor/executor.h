// The executor: plays task graphs and their operations over the links of a machine.
//
// An instant is a sequence of rounds. In each, all events of the instant are delivered, with their
// immediate effects; then every idle server with waiting messages picks one. Effects of the picks
// at the same time belong to the next round. Deliveries of one round commute: they only lower
// counters and add to waiting sets. So no result depends on the order of events within a round, nor
// on the numbering of places.
#pragma once

#include "sim/executor/player.h"
#include "sim/executor/player_links.h"
#include "sim/executor/player_memories.h"
#include "sim/executor/player_messages.h"
#include "sim/executor/player_tasks.h"
#include "sim/workload/observer.h"
#include "sim/workload/result.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// Plays the workload. `Pending` is EventPerHop<Queue> or Waves<Queue> (state/pending_events.h).
template <class Pending>
ExecutionResult play(const Workload& workload, Observer* observer, bool reuse);

template <class Pending>
ExecutionResult play(const Workload& workload, Observer* observer, bool reuse) {
    return Player<Pending>(workload, observer, reuse).run();
}

/// Runs to the end. With `reuse`, the places of a graph with marks skip repeats: if the whole state
/// at a mark equals that at an earlier one, relative to the instant and the mark, the tasks between
/// are played once, and their images are only counted and reported (folding/reuse.h). The result is
/// the same to the picosecond; the observer sees the images of tasks, but not of transfers and
/// links. Throws TimeOverflow, and std::logic_error if tasks are left that can never run (a defect
/// of the caller's graphs or schedules).
ExecutionResult execute(const Workload& workload, Observer* observer = nullptr, bool reuse = true);

}  // namespace podsim::sim
