// The chips that a collective is between, on the command line and in reports.
#pragma once

#include <string>

#include "scenarios/cli/command.h"
#include "scenarios/simulate/simulate.h"

namespace podsim::scenarios {

/// A chip of the slice: `3,3,0`, `0,3` on two axes. Throws sim::InputError.
topology::Point parse_chip(const std::string& text, const Hardware& hardware);

/// Reads --shift, --root, --from and --to for the request's operation, slice and group. Throws
/// sim::InputError for an option that the operation does not have or lacks, for chips outside the slice,
/// and for a shift that moves nothing.
collectives::Ends read_ends(const Usage& options, const CollectiveRequest& request);

/// `from (0,0) to (3,3)`, `to (0,0)`, `by 1`; empty where all members are alike.
std::string ends_text(const CollectiveRequest& request);
/// The same as keys: `shift`, `root`, or `from` and `to`; chips as arrays.
Json ends_json(const CollectiveRequest& request);

}  // namespace podsim::scenarios
