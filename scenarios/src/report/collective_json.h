// The output of `podsim collective` for programs: JSON of one run, CSV of one at many sizes.
#pragma once

#include <span>
#include <string>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/report/collective_run.h"

namespace podsim::scenarios {

Json collective_json(const CollectiveRun& run);

/// Returns a table with a header line; numbers are in base units, times in seconds.
std::string size_sweep_csv(std::span<const CollectiveRun> runs);

}  // namespace podsim::scenarios
