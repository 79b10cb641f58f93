// `podsim compare`: scenarios beside estimates and references.
#pragma once

#include <iosfwd>
#include <span>
#include <vector>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/cli/usage.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "scenarios/src/study/compare.h"

namespace podsim::scenarios {

Usage compare_usage();

/// Returns one row per scenario; a folder stands for all scenarios in it and below. All files are
/// read before the first run, so bad input shows at once. Throws sim::InputError, Stopped, and what
/// the watch throws.
std::vector<Comparison> answer_compare(const Usage& options, std::span<const ScenarioSource> named,
                                       Watch* watch = nullptr);
int command_compare(Arguments args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
