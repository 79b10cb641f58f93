// `auto`: the fastest algorithm for a collective on its own.
//
// Of the candidates (algorithm.h) the one with the least time is taken, the closed form where there is one and the
// simulation elsewhere; of equals the one that stands first. They are tried in the order of their lower bounds, and a
// candidate whose bound is above the best time so far is not simulated: it cannot be faster. A single
// candidate is taken unseen.
#pragma once

#include <functional>

#include "collectives/catalogue/closed_form.h"

namespace podsim::collectives {

/// What no run of this algorithm can beat: the physical bound, the latency of its hops one after the
/// other, and the bytes that it puts on the busiest link. With F the factors, V w the bytes of a part and N members, the
/// link of factor f carries over the parts
///   AllGather, ReduceScatter   sum of V w / N x (members before f) x (f - 1) / (2 on a ring, 1 on a line)
///   AllReduce                  twice that on a ring; V w / N x (members before f) x f on a line, whose halves
///                              fill opposite directions
///   one-shot                   sum of V w x (f - 1) / (2 on a ring, 1 on a line)
/// times the stride, whose groups share it. Rounded down, less one picosecond a hop for rounding.
sim::Time lower_bound(Operation operation, const topology::Lattice& slice, const Group& group,
                      Algorithm algorithm, sim::Bytes v, const LinkModel& link);

/// The fastest candidate. `simulate` runs the collective on its own under an algorithm and gives its
/// time; it is called at most once for each. A candidate for which it throws sim::InputError (too many messages) is
/// left out; the error is passed on when none is left.
Algorithm choose(Operation operation, const topology::Lattice& slice, const Group& group,
                 sim::Bytes v, const ScheduleOptions& options, const LinkModel& link,
                 const std::function<sim::Time(Algorithm)>& simulate);

}  // namespace podsim::collectives
