// The report of `podsim collective`: one collective, or a table of one at many sizes.
#pragma once

#include <span>
#include <string>

#include "scenarios/src/report/collective_run.h"

namespace podsim::scenarios {

std::string collective_report(const CollectiveRun& run);

/// Returns a table with one line per size.
std::string size_sweep_report(std::span<const CollectiveRun> runs);

}  // namespace podsim::scenarios
