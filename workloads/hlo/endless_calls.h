// Modules whose computations call each other without an end, or further than those who walk them can follow.
//
// How deep calls go is the most edges of a path from a computation to one that calls none; what a computation reaches are its
// instructions with those of all that it calls, each as often as it is called. Both are found callees first, in time linear in the
// calls and whatever the order of the text.
#pragma once

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Throws sim::InputError, at a computation, for one that calls itself, for calls more than 64 deep, and where 4 million instructions more
/// than the text has are reached in all, those of branches counted once more for the choice of the longest. What it lets through may be
/// walked by recursion over calls, once for each chain of them.
void refuse_endless_calls(const Module& module);

}  // namespace podsim::workloads::hlo
