// A collective as a page: time and bandwidth over sizes, with reasons.
#pragma once

#include <span>

#include "scenarios/src/report/collective_run.h"
#include "scenarios/src/report/page.h"

namespace podsim::scenarios {

/// `result` is the document of --json, with one run per size.
Page collective_page(std::span<const CollectiveRun> runs, Json result);

}  // namespace podsim::scenarios
