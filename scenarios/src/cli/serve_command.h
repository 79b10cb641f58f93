// `podsim serve`: requests served on a scenario's chips.
#pragma once

#include <iosfwd>
#include <vector>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/cli/usage.h"
#include "scenarios/src/report/verdict.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "scenarios/src/serve/serving_run.h"

namespace podsim::scenarios {

Usage serve_usage();

struct ServeAnswer {
    ServingRun run;
    std::vector<Verdict> verdicts;
};

/// Serves the scenario's requests. Throws sim::InputError, Stopped, and what the watch throws.
ServeAnswer answer_serve(const Usage& options, const ScenarioSource& source,
                         Watch* watch = nullptr);

/// Returns the document of --json, with --requests or without.
Json answer_json(const Usage& options, const ServeAnswer& answer);
int command_serve(Arguments args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
