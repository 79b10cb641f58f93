// The commands that help to write scenarios, and what options they have.
#pragma once

#include <iosfwd>

#include "scenarios/console/usage.h"
#include "scenarios/judge/draft.h"
#include "scenarios/load/scenario_source.h"
#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

Usage show_usage();
int command_show(Arguments args, std::ostream& out, std::ostream& err);

Usage check_usage();
int command_check(Arguments args, std::ostream& out, std::ostream& err);

Usage init_usage();
/// The scenario of those options. Throws sim::InputError.
Draft answer_init(const Usage& options);
int command_init(Arguments args, std::ostream& out, std::ostream& err);

Usage estimate_usage();
/// The step that is to be estimated. Throws sim::InputError for a program, too.
Scenario estimated_scenario(const Usage& options, const ScenarioSource& source);
int command_estimate(Arguments args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
