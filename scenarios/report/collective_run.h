// One run of `podsim collective`, and the figures that its text and its JSON share.
#pragma once

#include <string>
#include <string_view>

#include "collectives/catalogue/bandwidth.h"
#include "scenarios/simulate/simulate.h"

namespace podsim::scenarios {

/// What was asked, in the words of the command line, and what came of it.
struct CollectiveRun {
    CollectiveRequest request;
    std::string axes;
    std::string dtype;
    CollectiveResult result;
    double wall_time_s = 0;
};

/// As nccl-tests count (collectives/catalogue/bandwidth.h).
collectives::Bandwidth bandwidth_of(const CollectiveRun& run);

/// Of the simulated time.
double share_of(sim::Time part, const CollectiveResult& result);
double bound_over_simulated(const CollectiveResult& result);

/// Chips that take part: two of a send.
int member_count(const CollectiveRun& run);

/// What the algorithm walks along one factor of the group: `ring`, `line`, `trees`, `shortest routes`.
std::string_view served_by(const CollectiveRun& run, const topology::AxisFactor& factor);

}  // namespace podsim::scenarios
