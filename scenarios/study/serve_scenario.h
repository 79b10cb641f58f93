// A scenario's requests served by its steps: what `podsim serve`, `compare` and `calibrate` have in common.
#pragma once

#include "scenarios/serve_report/serving_run.h"
#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

/// Serves the requests of a scenario with `serving`: every step simulated, on a grid or exactly. Without pages in the file,
/// a server has as many as its memory holds beside weights and steps. Throws sim::InputError where that is not one, and
/// sim::TimeOverflow as the simulation does, Stopped where the watch ends it.
ServingRun serve_scenario(const Scenario& scenario, Watch* watch = nullptr);

/// The same with step times from there, as SimulatedStepTimes of the scenario gives them, and without the grids' errors.
ServingRun serve_scenario(const Scenario& scenario, StepTimes& steps);

/// What is served, with as many pages of cache as there is memory for where it does not say how many. Throws sim::InputError where
/// there is not enough for the weights, a step, one of the requests, or the pages that it says; at their key where there is one.
ServingSpec with_pages(const Scenario& scenario);

}  // namespace podsim::scenarios
