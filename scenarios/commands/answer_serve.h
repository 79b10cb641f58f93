// What `podsim serve` computes: requests served on a scenario's chips.
#pragma once

#include <vector>

#include "scenarios/console/usage.h"
#include "scenarios/load/scenario_source.h"
#include "scenarios/report/verdict.h"
#include "scenarios/serve_report/serving_run.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

Usage serve_usage();

struct ServeAnswer {
    ServingRun run;
    std::vector<Verdict> verdicts;
};

/// Serves the scenario's requests. Throws sim::InputError, Stopped, and what the watch throws.
ServeAnswer answer_serve(const Usage& options, const ScenarioSource& source,
                         Watch* watch = nullptr);

/// What --json writes, with --requests or without.
Json answer_json(const Usage& options, const ServeAnswer& answer);

}  // namespace podsim::scenarios
