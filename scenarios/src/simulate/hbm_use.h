// Use of the chips' HBM in a run, by user.
#pragma once

#include <span>

#include "scenarios/src/simulate/layout.h"
#include "scenarios/src/simulate/link_use.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "sim/workload/task_graph.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Returns the bytes that the kernels of a program read and write.
sim::Bytes bytes_of_kernels(const workloads::StepProgram& program);

/// Returns a chip's bytes as a fraction of the bytes that its HBM could move until `end`, by
/// kernels, collectives and host transfers. The bytes are derived from the workload, not from how
/// the HBM was shared. `kernels` is by task graph. Means are over the representatives, as in
/// link_use.
LinkUse hbm_use(const sim::Workload& workload, std::span<const sim::Bytes> kernels,
                const Layout& layout, sim::Time end);

}  // namespace podsim::scenarios
