// A schedule for the places that are kept of a workload that is its own mirror image.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/mirror/known_images.h"
#include "sim/mirror/orbits.h"

namespace podsim::sim {

/// What a mirror group makes of a schedule: [mirror], each with the ranks that are common to the images of those up to it.
using ScheduleImages = std::vector<std::shared_ptr<const TransferImages>>;

/// The schedule with a role for each kind of kept place: those of one role whose messages lead to places that are
/// turned alike and of one kind.
FoldedSchedule fold_schedule(const Schedule& schedule, const Machine& machine, const Orbits& orbits,
                             const ScheduleImages& images);

/// Of a schedule that differs from one that was folded in bytes alone, by the same images.
FoldedSchedule with_bytes_of(const FoldedSchedule& folded, const Schedule& schedule);

}  // namespace podsim::sim
