// How busy the HBM of the chips is in a run, and with what.
#pragma once

#include <span>

#include "scenarios/explain/link_use.h"
#include "scenarios/lower/layout.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "sim/workload/task_graph.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// What the kernels of a program read and write.
sim::Bytes bytes_of_kernels(const workloads::StepProgram& program);

/// A chip's bytes over what its HBM could move until `end`, by kernels, collectives and host transfers: read off what is
/// run, not off how it was shared. `kernels`: by task graph. Over the representatives, as link_use has links.
LinkUse hbm_use(const sim::Workload& workload, std::span<const sim::Bytes> kernels,
                const Layout& layout, sim::Time end);

}  // namespace podsim::scenarios
