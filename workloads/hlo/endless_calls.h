// Refuses modules whose computations call each other without end, or too deep to be walked by
// recursion.
//
// The depth of calls is the number of edges of the longest path from a computation to one that
// calls none. A computation reaches its own instructions and those of all computations that it
// calls, each as often as it is called. Both are found callees first, in time linear in the number
// of calls and for any order of the text.
#pragma once

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Throws sim::InputError, at a computation, in three cases: a computation calls itself; calls are
/// more than 64 deep; computations reach 4 million instructions more than the text has, where those
/// of branches count once more for the choice of the longest branch. A module that passes may be
/// walked by recursion over calls, once for each chain of calls.
void refuse_endless_calls(const Module& module);

}  // namespace podsim::workloads::hlo
