// Outputs that would overwrite what a command reads.
#pragma once

#include <span>
#include <string>

#include "scenarios/src/cli/usage.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "scenarios/src/study/sweep.h"

namespace podsim::scenarios {

/// Throws sim::InputError if an output of the options is one of the scenarios, or a file that a
/// scenario names (a Hugging Face config, a profile, a trace). A scenario names files itself, by
/// --set (also of one side) or by `varied`. `more` holds further files that --write creates.
void refuse_lost_inputs(const Usage& options, std::span<const ScenarioSource> scenarios,
                        std::span<const std::string> more = {},
                        std::span<const Varied> varied = {});

}  // namespace podsim::scenarios
