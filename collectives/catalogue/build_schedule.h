// Building the schedule of any operation.
#pragma once

#include <optional>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/vocabulary/collective_call.h"

namespace podsim::collectives {

/// Within a slice `automatic` resolves to the first of the operation's candidates, and any other
/// algorithm to itself. With members in several slices, `automatic` resolves to the default within
/// each slice, in the order of collective_schedule.h; `flat` is for all but AllToAll. Throws
/// sim::InputError if the operation has no such algorithm.
Algorithm resolve(const CollectiveCall& call);

/// Returns the schedule of a call on every group of its slice at once. `shifts` numbers the
/// displacements on the simulated places (folded_places, or the slice itself). Throws
/// sim::InputError if the array would need more than 20 million messages per role, if the operation
/// has no such algorithm, and if it cannot go round dead links.
CollectiveSchedule build_schedule(const CollectiveCall& call, const ScheduleOptions& options,
                                  ShiftTable& shifts);

/// Converts a schedule that was built with other numbers of displacements, on other places, to the
/// one that the same call builds on these. Returns nothing if members are not all alike, so that
/// their work depends on the place.
std::optional<sim::Schedule> on_places_of(ShiftTable& shifts, const sim::Schedule& schedule,
                                          const ShiftTable& built_with);

/// Returns the lattice that the slice folds to for one call within it.
topology::Lattice folded_places(const CollectiveCall& call);

}  // namespace podsim::collectives
