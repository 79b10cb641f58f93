// A collective as a page: time and bandwidth over sizes, and why.
#pragma once

#include <span>

#include "scenarios/page/page.h"
#include "scenarios/report/collective_run.h"

namespace podsim::scenarios {

/// `result`: what --json writes of the runs, one a size.
Page collective_page(std::span<const CollectiveRun> runs, Json result);

}  // namespace podsim::scenarios
