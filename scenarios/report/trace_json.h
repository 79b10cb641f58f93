// The timeline of the reported chip as Chrome trace events (chrome://tracing, ui.perfetto.dev).
#pragma once

#include "scenarios/simulate/simulate.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// A track for each kind of work, times in microseconds.
Json trace_json(const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
