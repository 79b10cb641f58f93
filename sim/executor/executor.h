// The executor: plays task graphs and their operations over the links of a machine.
//
// An instant is a sequence of rounds. In each, all events of the instant are delivered, with what
// they cause at once; then every idle server that has messages waiting picks one. What the picks
// cause at the same time belongs to the next round. Deliveries of one round commute: they only lower
// counters and add to waiting sets, so no result depends on the order of events within a round, nor
// on the numbering of places.
#pragma once

#include "sim/queue/queue_kind.h"
#include "sim/workload/observer.h"
#include "sim/workload/result.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// Runs to the end. With `reuse`, the places of a graph with marks skip what repeats: when the
/// whole state at a mark equals that at an earlier one, relative to the instant and the mark, the
/// tasks between are played once and their images only counted and reported (reuse/reuse.h). The result
/// is the same to the picosecond; the observer sees the images of tasks, but not of transfers and
/// links. Throws TimeOverflow, and std::logic_error when tasks are left that can never run (a defect
/// of the caller's graphs or schedules).
ExecutionResult execute(const Workload& workload, Observer* observer = nullptr, bool reuse = true,
                        QueueKind queue = QueueKind::waves);

}  // namespace podsim::sim
