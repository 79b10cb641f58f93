// Building the schedule of any operation.
#pragma once

#include <optional>

#include "collectives/algorithms/collective_schedule.h"

namespace podsim::collectives {

/// The schedule of a call on every group of its slice at once. `shifts` numbers the displacements
/// on the simulated places (folded_places, or the slice itself).
/// Throws sim::InputError when the array would need more than 20 million messages per role, when the operation has no
/// such algorithm, and when it cannot go round dead links.
CollectiveSchedule build_schedule(const CollectiveCall& call, const ScheduleOptions& options,
                                  ShiftTable& shifts);

/// A schedule that was built with other numbers of displacements, on other places: the one that the same call builds on these.
/// Nothing where members are not all alike, so that it depends on the place what they do.
std::optional<sim::Schedule> on_places_of(ShiftTable& shifts, const sim::Schedule& schedule,
                                          const ShiftTable& built_with);

/// What the slice folds to for one call within it.
topology::Lattice folded_places(const CollectiveCall& call);

}  // namespace podsim::collectives
