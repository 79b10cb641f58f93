// The text and the JSON of `podsim run` for a program scenario.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/report/machine_text.h"
#include "scenarios/src/report/verdict.h"
#include "scenarios/src/scenario/program.h"

namespace podsim::scenarios {

std::string program_report(const Scenario& scenario, const ProgramResult& result,
                           std::span<const Verdict> verdicts, WallTime wall = {});
/// Schema `podsim/2`; without a wall time there is no `wall_time_s`.
Json program_json(const Scenario& scenario, const ProgramResult& result,
                  std::span<const Verdict> verdicts, std::optional<WallTime> wall = std::nullopt);

}  // namespace podsim::scenarios
