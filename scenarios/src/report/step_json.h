// The JSON of `podsim run` for a training step.
#pragma once

#include <optional>
#include <span>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/report/machine_text.h"
#include "scenarios/src/report/verdict.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// Returns schema `podsim/2`: the request, then the values of spec/quantity_names under their keys,
/// with the maps of shares, links and verdicts between them. Without a wall time there is no
/// `wall_time_s`.
Json step_json(const Scenario& scenario, const StepResult& result,
               std::span<const Verdict> verdicts, std::optional<WallTime> wall = std::nullopt);

}  // namespace podsim::scenarios
