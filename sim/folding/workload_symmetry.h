// Symmetry of a workload apart from its schedules.
#pragma once

#include "sim/folding/fold_by_mirrors.h"

namespace podsim::sim {

/// True if the links, work and task graphs of all places are those of their images.
bool machine_is_symmetric(const Workload& workload, const Mirror& mirror);

/// True if the participants of each placement have the roles of its schedule, or none, as do their
/// images.
bool placements_are_symmetric(const Workload& workload, const Mirror& mirror);

/// Returns the workload with a schedule of its own for each placement of a schedule without places.
Workload with_places(Workload workload);

}  // namespace podsim::sim
