// The text of `podsim run` for a training step.
#pragma once

#include <span>
#include <string>

#include "scenarios/report/machine_text.h"
#include "scenarios/report/verdict.h"
#include "scenarios/simulate/simulate.h"

namespace podsim::scenarios {

/// Sections with aligned columns, human units at four significant digits; printed parts add up to their printed sum
/// (largest remainders, text/table). The last line holds the wall time.
std::string step_report(const Scenario& scenario, const StepResult& result,
                        std::span<const Verdict> verdicts, WallTime wall = {});

}  // namespace podsim::scenarios
