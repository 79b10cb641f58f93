// The text and the JSON of `podsim run` for a program scenario.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "scenarios/report/machine_text.h"
#include "scenarios/report/verdict.h"
#include "scenarios/spec/program.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

std::string program_report(const Scenario& scenario, const ProgramResult& result,
                           std::span<const Verdict> verdicts, WallTime wall = {});
/// Schema `podsim/2`; `wall_time_s` is left out where no wall time is given.
Json program_json(const Scenario& scenario, const ProgramResult& result,
                  std::span<const Verdict> verdicts, std::optional<WallTime> wall = std::nullopt);

}  // namespace podsim::scenarios
