// `auto`: the fastest algorithm for a collective on its own.
//
// Of the operation's candidates (operations.h) the one with the least time is taken, the closed form where there is one and the
// simulation elsewhere; of equals the one that stands first. They are tried in the order of their lower bounds, and a
// candidate whose bound is above the best time so far is not simulated: it cannot be faster. Nor is the first, where it surely takes
// less than the bound of the next (latest_end in algorithms/ring_bounds.h). A single candidate is taken unseen.
#pragma once

#include <functional>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/link_model.h"

namespace podsim::collectives {

/// What no run of the call by its algorithm can beat: the physical bound, the latency of its hops one after the
/// other, and the bytes that it puts on the busiest link (AlgorithmLoad). Rounded down, less one picosecond a hop
/// for rounding.
sim::Time lower_bound(const CollectiveCall& call, const LinkModel& link);

/// The same for whichever candidate is taken: the least of theirs. Within a slice.
sim::Time lower_bound_of_any(const CollectiveCall& call, const LinkModel& link);

/// The fastest candidate; call.algorithm is not read. `simulate` runs the collective on its own under an algorithm and
/// gives its time; it is called at most once for each. A candidate for which it throws TooManyMessages
/// (algorithms/messages.h) is left out; the error is passed on when none is left, and any other at once.
Algorithm choose(const CollectiveCall& call, const ScheduleOptions& options, const LinkModel& link,
                 const std::function<sim::Time(Algorithm)>& simulate);

}  // namespace podsim::collectives
