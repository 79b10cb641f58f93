// What every run of a collective is held to.
#pragma once

#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

/// Every link carried the bytes of the schedule's transfers that cross it, and was busy at least for these
/// bytes at its rate and no longer than the run.
void expect_links_conserve_bytes(const Outcome& run);

/// Held by every run (run_on): that, and every run took at least the physical bound, rounded down to a
/// picosecond.
void expect_kept(const Case& c, const Outcome& run);

/// What the slice folds to for the case.
topology::Lattice folded(const Case& c);

/// The folded run and the run of the whole slice agree to the picosecond, at every chip and link, and
/// their events differ by the number of copies.
void expect_fold_is_equal(const Case& c);

}  // namespace podsim::collectives
