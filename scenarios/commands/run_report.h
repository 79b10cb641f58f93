// The page of `podsim run`.
#pragma once

#include <string>

#include "scenarios/commands/answer_run.h"

namespace podsim::scenarios {

/// Writes the page of an answer to those options there; nothing without a path. Throws sim::InputError as write_report does.
void write_run_report(const RunAnswer& answer, const Usage& options, const ScenarioSource& source,
                      const std::string& path);

}  // namespace podsim::scenarios
