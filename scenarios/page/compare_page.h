// Scenarios beside their references as a page.
#pragma once

#include <span>

#include "scenarios/page/page.h"
#include "scenarios/study/compare.h"

namespace podsim::scenarios {

/// `result`: what --json writes of the rows.
Page compare_page(std::span<const Comparison> rows, Json result);

}  // namespace podsim::scenarios
