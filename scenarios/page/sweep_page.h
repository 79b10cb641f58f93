// A sweep as a page: fronts, parallel coordinates, a table.
#pragma once

#include <span>
#include <string>

#include "scenarios/page/page.h"
#include "scenarios/study/sweep.h"

namespace podsim::scenarios {

/// Of `rows` at most about `most`, evenly spread, and beside these all that are on a front of step time against chips, memory or
/// cost; the page says so where some are left out. `scenario`: what is swept, in words.
Page sweep_page(std::span<const SweepRow> rows, const Sweep& sweep, const std::string& scenario,
                std::size_t most);

}  // namespace podsim::scenarios
