// Slow chips, slow and dead links and slow hosts on the places that are simulated.
#pragma once

#include "scenarios/spec/hardware.h"
#include "sim/workload/machine.h"
#include "topology/lattice/dead_links.h"
#include "topology/lattice/places.h"

namespace podsim::scenarios {

/// Slows the chips and links of a machine on those places, whose axes and slices are whole where
/// they differ. Nothing is sent over dead links (dead_links).
void perturb(const AchievedHardware& hardware, const topology::Places& places,
             sim::Machine& machine);

/// The dead links of those places.
topology::DeadLinks dead_links(const Hardware& hardware, const topology::Places& places);

}  // namespace podsim::scenarios
