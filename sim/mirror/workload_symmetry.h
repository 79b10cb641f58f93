// What must be symmetric of a workload beside its schedules.
#pragma once

#include "sim/mirror/fold_by_mirrors.h"

namespace podsim::sim {

/// Whether links, work and programs of all places are those of their images.
bool machine_is_symmetric(const Workload& workload, const Mirror& mirror);

/// Whether those that take part by each placement do so in the roles of the schedules used with it, or in none, with their images.
bool placements_are_symmetric(const Workload& workload, const Mirror& mirror);

/// The workload with a schedule of its own for each placement of one that has no places.
Workload with_places(Workload workload);

}  // namespace podsim::sim
