// The report of a serving run for programs.
#pragma once

#include <span>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/report/verdict.h"
#include "scenarios/src/serve/serving_run.h"

namespace podsim::scenarios {

/// Returns every value of the text report and the sums behind them; keys end in their units.
/// `requests` adds each request's times.
Json serving_json(const ServingRun& run, std::span<const Verdict> verdicts, bool requests);

}  // namespace podsim::scenarios
