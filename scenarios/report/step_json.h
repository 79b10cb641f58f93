// The JSON of `podsim run` for a training step.
#pragma once

#include <optional>
#include <span>

#include "scenarios/report/machine_text.h"
#include "scenarios/report/verdict.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// Schema `podsim/2`: what was asked, then the values of spec/quantity_names under their keys, with the maps of shares,
/// links and verdicts between them. `wall_time_s` is left out where no wall time is given.
Json step_json(const Scenario& scenario, const StepResult& result,
               std::span<const Verdict> verdicts, std::optional<WallTime> wall = std::nullopt);

}  // namespace podsim::scenarios
