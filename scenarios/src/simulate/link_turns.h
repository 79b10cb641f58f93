// The order of a step's collectives at a link.
//
// Collectives on the critical path precede those that run beside the compute stream. Among the
// latter, gathers of weights and reductions of gradients alike, the one for which the stream waits
// sooner goes first. This is the rule of the earliest due date (Jackson 1955: no order of one
// server has a smaller greatest lateness). An order by kinds, with gathers before all reductions,
// would let a gather that runs a layer ahead take the links from the last bytes of the reduction
// that bounds the gradients of the layer before. If that reduction is not quite done when the
// gather begins, the stream waits for both in full, so that a faster chip takes longer. XLA's
// compiled order has the same effect. It is built from the end: each end of a collective stands
// directly before its first user, and a collective whose kind has no room gives it back first
// (xla/service/latency_hiding_scheduler.cc, ReadySetLt: kScheduleDone, kFreeBackedupResource;
// August 2026). A plan that sets an order of the kinds (Overlap::priority) uses it, and program
// order within a kind.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/task_graph.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Returns sim::OperationSpec::priority_class of a collective of the program.
std::uint32_t priority_class(const workloads::StepProgram& program, workloads::Purpose purpose);

/// Sets sim::OperationSpec::needed_by of a workload whose graphs are those of the programs.
void order_by_need(const std::vector<workloads::StepProgram>& programs, sim::Workload& workload);

}  // namespace podsim::scenarios
