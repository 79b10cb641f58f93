// Shows scenarios beside their references as a page.
#pragma once

#include <span>

#include "scenarios/src/report/page.h"
#include "scenarios/src/study/compare.h"

namespace podsim::scenarios {

/// Returns the page of the rows. `result`: their JSON as --json writes it.
Page compare_page(std::span<const Comparison> rows, Json result);

}  // namespace podsim::scenarios
