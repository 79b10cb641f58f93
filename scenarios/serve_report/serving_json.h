// The report of a serving run for programs.
#pragma once

#include <span>

#include "scenarios/report/verdict.h"
#include "scenarios/serve_report/serving_run.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// Every value of the text report and the sums behind them; keys end in their units. With `requests` also each request's
/// times.
Json serving_json(const ServingRun& run, std::span<const Verdict> verdicts, bool requests);

}  // namespace podsim::scenarios
