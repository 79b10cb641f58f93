// What every run of a collective is held to.
#pragma once

#include "tests/collectives/support.h"

namespace podsim::collectives {

/// Held by every run (run_on): every link carried the bytes of the schedule's transfers that cross it,
/// was busy at least for these bytes at its rate and no longer than the run; and the run took at least
/// the physical bound, rounded down to a picosecond.
void expect_kept(const Case& c, const Outcome& run);

/// What the slice folds to for the case.
topology::Lattice folded(const Case& c);

/// The folded run and the run of the whole slice agree to the picosecond, at every chip and link, and
/// their events differ by the number of copies.
void expect_fold_is_equal(const Case& c);

}  // namespace podsim::collectives
