// Plays a workload with one way of keeping what is pending. Private to the kernel.
//
// Each way is a program of its own, compiled in play_radix.cpp (those that runs use) or play_compared.cpp (those that the
// default is compared with).
#pragma once

#include "sim/workload/observer.h"
#include "sim/workload/result.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// `Pending`: EventPerHop<Queue> or Waves<Queue> (state/pending_events.h).
template <class Pending>
ExecutionResult play(const Workload& workload, Observer* observer, bool reuse);

}  // namespace podsim::sim
