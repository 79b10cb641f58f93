// Shows a sweep as a page: fronts, parallel coordinates, a table.
#pragma once

#include <span>
#include <string>

#include "scenarios/src/report/page.h"
#include "scenarios/src/study/sweep.h"

namespace podsim::scenarios {

/// Returns a page of at most about `most` of the `rows`, evenly spread, and of all rows on a front
/// of step time against chips, memory or cost. The page says if rows are left out. `scenario`:
/// describes the object of the sweep.
Page sweep_page(std::span<const SweepRow> rows, const Sweep& sweep, const std::string& scenario,
                std::size_t most);

}  // namespace podsim::scenarios
