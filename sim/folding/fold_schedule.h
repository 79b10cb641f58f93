// Folds a schedule to the kept places of a workload that is its own mirror image.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/folding/known_images.h"
#include "sim/folding/orbits.h"

namespace podsim::sim {

/// [mirror]: the images of a schedule under a group of mirrors. Each holds the ranks that are
/// common to the images of all mirrors up to it.
using ScheduleImages = std::vector<std::shared_ptr<const TransferImages>>;

/// Returns the schedule with a role for each kind of kept place. A kind is the places of one role
/// whose messages lead to places of equal kinds and equal elements (orbits.h).
FoldedSchedule fold_schedule(const Schedule& schedule, const Machine& machine, const Orbits& orbits,
                             const ScheduleImages& images);

/// Returns a schedule that differs in bytes alone from one that was folded by the same images.
FoldedSchedule with_bytes_of(const FoldedSchedule& folded, const Schedule& schedule);

}  // namespace podsim::sim
