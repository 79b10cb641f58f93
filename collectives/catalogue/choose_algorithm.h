// `auto`: the fastest algorithm for a collective on its own.
//
// Among the operation's candidates (operations.h) the one with the least time is taken: by the
// closed form if there is one, otherwise by simulation. The first wins a tie. Candidates are tried
// in the order of their lower bounds. A candidate whose bound is above the best time so far is not
// simulated, since it cannot be faster. Nor is the first, if it surely takes less than the bound of
// the next (latest_end in algorithms/ring_bounds.h). A single candidate is taken without a
// simulation.
#pragma once

#include <functional>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/link_model.h"

namespace podsim::collectives {

/// Returns a lower bound of the call by its algorithm: the physical bound, the latency of its hops
/// one after the other, and the bytes that it puts on the busiest link (AlgorithmLoad). It is
/// rounded down, less one picosecond a hop for rounding.
sim::Time lower_bound(const CollectiveCall& call, const LinkModel& link);

/// Returns the same for any candidate: the smallest of their bounds. Within a slice.
sim::Time lower_bound_of_any(const CollectiveCall& call, const LinkModel& link);

/// Returns the fastest candidate; call.algorithm is not read. `simulate` runs the collective on its
/// own under an algorithm and returns its time; it is called at most once for each. A candidate for
/// which it throws TooManyMessages (algorithms/messages.h) is left out; the error is passed on if
/// none is left, and any other error at once.
Algorithm choose(const CollectiveCall& call, const ScheduleOptions& options, const LinkModel& link,
                 const std::function<sim::Time(Algorithm)>& simulate);

}  // namespace podsim::collectives
