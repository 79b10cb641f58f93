// What the end of a run waited for, back to its beginning.
//
// From the last task that ended, the path follows causes backwards in time, from one instant to the one
// that decided it, over all places:
//   a task         the dependency that ended when it began
//   a collective   the last message that its place was owed
//   a message      where it was held longest: behind the message before it on the same link, behind the
//                  slower link before this one, or for what it forwards
// Every picosecond of the run lies on the path once, so the shares add up to the run exactly. Where two
// causes meet at one instant, work goes before collectives, and a busy link before a late message: what
// is saturated stays on the path, and latency that hides behind it does not.
#pragma once

#include <string>
#include <vector>

#include "scenarios/explain/shares.h"
#include "scenarios/lower/lower_step.h"
#include "scenarios/run/run_record.h"
#include "sim/base/time.h"
#include "sim/workload/task_graph.h"
#include "topology/mesh/exchange.h"
#include "workloads/analytic/machine_rates.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// The resource that decides the time of a compute operation: `MXU`, `HBM`, `VPU`, or the `host` that the chip waits for.
std::string resource_of(const workloads::Compute& work, const workloads::MachineRates& rates);

/// The shares of `workload`'s time on its critical path, largest first: the resources of tasks that work
/// (`resources`, by graph and task; what a slow chip adds is `slow chips`, and what an HBM that is shared adds to work and to links `HBM`), `ICI x`, `ICI y`, `ICI z`, `PCIe`,
/// `DCN` while a link of that class carries the message that is waited for, `latency`, and `launch`. `record` is
/// that of the run that ended at `end`. Throws std::logic_error when a cause cannot be found (a defect).
std::vector<Share> trace_critical_path(const sim::Workload& workload,
                                       const std::vector<std::vector<std::string>>& resources,
                                       const RunRecord& record, sim::Time end);

/// The same of a step. `written`: which axis is called x (DeviceMesh::written).
std::vector<Share> critical_path(const workloads::StepPrograms& programs, const LoweredStep& step,
                                 const workloads::MachineRates& rates, const RunRecord& record,
                                 sim::Time end, const topology::AxisExchange& written = {});

}  // namespace podsim::scenarios
