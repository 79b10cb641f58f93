// What `podsim collective` writes for programs: JSON of one run, CSV of one at many sizes.
#pragma once

#include <span>
#include <string>

#include "scenarios/report/collective_run.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

Json collective_json(const CollectiveRun& run);

/// With a header line; numbers in base units, times in seconds.
std::string size_sweep_csv(std::span<const CollectiveRun> runs);

}  // namespace podsim::scenarios
