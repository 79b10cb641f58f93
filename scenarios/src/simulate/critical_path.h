// The critical path of a run, from its end back to its beginning.
//
// From the last task that ended, the path follows causes backwards in time, from one instant to the
// one that decided it, over all places:
//   a task         the dependency that ended when the task began
//   a collective   the last message that its place awaited
//   a message      the cause that held it longest: the message before it on the same link, the
//                  slower link before this one, or the data that it forwards
// Every picosecond of the run lies on the path once, so the shares add up to the run exactly. If
// two causes meet at one instant, work precedes collectives, and a busy link precedes a late
// message: a saturated resource stays on the path, and latency that hides behind it does not.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/run_record.h"
#include "scenarios/src/simulate/shares.h"
#include "sim/base/time.h"
#include "sim/workload/task_graph.h"
#include "topology/mesh/exchange.h"
#include "workloads/bounds/machine_rates.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// The resource that decides the time of a compute operation: `MXU`, `HBM`, `VPU`, or the `host`
/// for which the chip waits.
std::string resource_of(const workloads::Compute& work, const workloads::MachineRates& rates);

/// Returns the shares of `workload`'s time on its critical path, largest first:
///   resources of tasks that work (`resources`, by graph and task),
///   `slow chips`          time that a slow chip adds,
///   `HBM`                 also includes time that a shared HBM adds to work and to links,
///   `ICI x`, `ICI y`, `ICI z`, `PCIe`, `DCN`: a link of that class carries the awaited message,
///   `latency` and `launch`.
/// `record` is that of the run that ended at `end`. Throws std::logic_error if a cause cannot be
/// found (a defect).
std::vector<Share> trace_critical_path(const sim::Workload& workload,
                                       const std::vector<std::vector<std::string>>& resources,
                                       const RunRecord& record, sim::Time end);

/// Returns the critical path of a step. `written` maps axes to the names x, y and z
/// (DeviceMesh::written).
std::vector<Share> critical_path(const workloads::StepPrograms& programs, const LoweredStep& step,
                                 const workloads::MachineRates& rates, const RunRecord& record,
                                 sim::Time end, const topology::AxisExchange& written = {});

}  // namespace podsim::scenarios
