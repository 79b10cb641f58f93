// Checks that every run of a collective passes.
#pragma once

#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

/// Checks that every link carried the bytes of the schedule's transfers that cross it, and was busy
/// at least for these bytes at its rate and no longer than the run.
void expect_links_conserve_bytes(const Outcome& run);

/// Checks the links as above, and that the run took at least the physical bound, rounded down to a
/// picosecond. run_on applies it to every run.
void expect_kept(const Case& c, const Outcome& run);

/// Returns the fold of the slice for the case.
topology::Lattice folded(const Case& c);

/// Checks that the folded run and the run of the whole slice agree to the picosecond, at every chip
/// and link, and that their events differ by the number of copies.
void expect_fold_is_equal(const Case& c);

}  // namespace podsim::collectives
