// Which of a step's collectives goes first at a link.
//
// Those on the critical path go before what runs beside the compute stream. Of that, gathers of weights and reductions of
// gradients alike, whichever the stream waits for sooner goes first (the rule of the earliest due date, Jackson 1955: no order of
// one server has a smaller greatest lateness). By kinds, gathers before all reductions, a gather that runs a layer ahead would take the
// links from the last bytes of the reduction that bounds the gradients of the layer before: the stream waits for all of both, once
// the one is not quite done when the other begins, so that a faster chip takes longer.
// XLA's compiled order has the same effect: it is made from the end, each end of a collective stands directly before its first user,
// and one whose kind has no room gives it back first (xla/service/latency_hiding_scheduler.cc, ReadySetLt: kScheduleDone,
// kFreeBackedupResource; August 2026).
// A plan that says an order of the kinds (Overlap::priority) has that, and within a kind the program's.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/task_graph.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// sim::OperationSpec::priority_class of a collective of the program.
std::uint32_t priority_class(const workloads::StepProgram& program, workloads::Purpose purpose);

/// Sets sim::OperationSpec::needed_by of a workload whose graphs are those of the programs.
void order_by_need(const std::vector<workloads::StepProgram>& programs, sim::Workload& workload);

}  // namespace podsim::scenarios
