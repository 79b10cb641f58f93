// What `podsim collective` says: one collective as text and JSON, a sweep over sizes as a table, CSV
// and JSON.
#pragma once

#include <span>
#include <string>

#include "scenarios/report/report.h"
#include "scenarios/simulate/simulate.h"

namespace podsim::scenarios {

/// One run: what was asked, in the words of the command line, and what came of it.
struct CollectiveRun {
    CollectiveRequest request;
    std::string axes;
    std::string dtype;
    CollectiveResult result;
};

std::string collective_report(const CollectiveRun& run);
Json collective_json(const CollectiveRun& run);

/// A line a size. Bandwidths as in collectives/catalogue/bandwidth.h.
std::string sweep_report(std::span<const CollectiveRun> runs);
/// With a header line; numbers in base units, times in seconds.
std::string sweep_csv(std::span<const CollectiveRun> runs);

}  // namespace podsim::scenarios
