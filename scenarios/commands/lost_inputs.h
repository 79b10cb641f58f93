// Outputs that would replace what a command reads.
#pragma once

#include <span>
#include <string>

#include "scenarios/console/usage.h"
#include "scenarios/load/scenario_source.h"
#include "scenarios/study/sweep.h"

namespace podsim::scenarios {

/// Throws sim::InputError where an output of those options is one of the scenarios, or a file that one of
/// these names (a Hugging Face config, a profile, a trace), by itself, by --set (of one side, too) or `varied`. `more`: files that --write
/// writes besides.
void refuse_lost_inputs(const Usage& options, std::span<const ScenarioSource> scenarios,
                        std::span<const std::string> more = {},
                        std::span<const Varied> varied = {});

}  // namespace podsim::scenarios
