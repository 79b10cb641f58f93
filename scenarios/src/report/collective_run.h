// One run of `podsim collective`, and the figures that its text and its JSON share.
#pragma once

#include <string>
#include <string_view>

#include "collectives/catalogue/bandwidth.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// A request, in the words of the command line, and its result.
struct CollectiveRun {
    CollectiveRequest request;
    std::string axes;
    std::string dtype;
    CollectiveResult result;
    double wall_time_s = 0;
};

/// Returns the bandwidths as nccl-tests count them (collectives/catalogue/bandwidth.h).
collectives::Bandwidth bandwidth_of(const CollectiveRun& run);

/// Returns `part` as a fraction of the simulated time.
double share_of(sim::Time part, const CollectiveResult& result);
double bound_over_simulated(const CollectiveResult& result);

/// Returns the number of participating chips: two for a send.
int member_count(const CollectiveRun& run);

/// Returns the shape that the algorithm uses along one factor of the group: `ring`, `line`,
/// `trees`, `shortest routes`.
std::string_view served_by(const CollectiveRun& run, const topology::AxisFactor& factor);

}  // namespace podsim::scenarios
