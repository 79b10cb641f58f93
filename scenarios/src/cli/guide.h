// Commands that help to write scenarios, and their options.
#pragma once

#include <iosfwd>
#include <string>

#include "scenarios/src/cli/usage.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/scenario/scenario_source.h"

namespace podsim::scenarios {

struct Draft {
    std::string text;   ///< YAML with comments; loads and runs
    bool fits = false;  ///< in program order
};

/// Returns a training step of one sequence per chip. Its mesh is the first that the model allows
/// and that fits: `fsdp` over all chips, then with `tensor` of 2, 4 and 8 beside it. If none fits,
/// it is the one that holds least memory.
/// An empty `slice` means one host. A slice such as `v5p-16` names its chip; `given_chip` may then
/// be empty. The model is one of the catalogue, or the path of a Hugging Face config (.json), which
/// the text names relative to `folder`, that of the scenario's file. Throws sim::InputError for an
/// unknown chip, slice or model.
Draft draft_scenario(const std::string& given_chip, const std::string& slice,
                     const std::string& model, const std::string& folder = "");

Usage show_usage();
int command_show(Arguments args, std::ostream& out, std::ostream& err);

Usage check_usage();
int command_check(Arguments args, std::ostream& out, std::ostream& err);

Usage init_usage();
/// Returns the scenario that the options describe. Throws sim::InputError.
Draft answer_init(const Usage& options);
int command_init(Arguments args, std::ostream& out, std::ostream& err);

Usage estimate_usage();
/// Returns the step to estimate. Throws sim::InputError, also for a program.
Scenario estimated_scenario(const Usage& options, const ScenarioSource& source);
int command_estimate(Arguments args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
