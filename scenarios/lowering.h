// From chips and collectives to places, servers and schedules.
#pragma once

#include <string>
#include <vector>

#include "collectives/schedule.h"
#include "scenarios/scenario.h"
#include "scenarios/simulate.h"
#include "sim/executor.h"
#include "sim/machine.h"

namespace podsim::scenarios {

/// The ICI links of one hardware, at its rates, on the places that are simulated.
/// `shifts` holds the displacements of every schedule that will run there.
sim::Machine build_machine(const Hardware& hardware, const collectives::ShiftTable& shifts);

/// The places to simulate for traffic within these groups.
topology::Lattice simulated_places(const topology::Lattice& slice, Fold fold,
                                   const std::vector<collectives::Group>& groups);

/// Use of each ICI axis over a run, over the places of the fold (which an unfolded run repeats):
/// busy time over the run's, and bytes per link, of the mean and of the busiest link.
std::vector<LinkUse> link_use(const Hardware& hardware, const topology::Lattice& places,
                              const topology::Lattice& folded, const sim::ExecutionResult& result);

}  // namespace podsim::scenarios
