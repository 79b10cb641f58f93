// The options --shift, --root, --from and --to of `podsim collective`.
#pragma once

#include "scenarios/console/usage.h"
#include "scenarios/spec/request.h"

namespace podsim::scenarios {

/// Reads them for the request's operation, slice and group. Throws sim::InputError for an option that the operation does
/// not have or lacks, for chips outside the slice, and for a shift that moves nothing.
collectives::Ends read_ends(const Usage& options, const CollectiveRequest& request);

}  // namespace podsim::scenarios
