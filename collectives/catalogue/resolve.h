// The algorithm that carries out a call.
#pragma once

#include "collectives/vocabulary/collective_call.h"

namespace podsim::collectives {

/// Within a slice the first of the operation's candidates for `automatic`, and any other for itself. Of members in several
/// slices, for `automatic` the default within each slice, in the order of collective_schedule.h; `flat` is for
/// all but AllToAll. Throws sim::InputError when the operation has no such algorithm.
Algorithm resolve(const CollectiveCall& call);

}  // namespace podsim::collectives
