// A simulated program as a timeline.
#pragma once

#include "scenarios/simulate/program_result.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/timeline/timeline.h"

namespace podsim::scenarios {

/// Tells of one process, that of all chips: the program, and its stages from the first piece anywhere to the last
/// everywhere, on tracks by the resource that bounds them (`ICI`, `MXU`, `PCIe`), on lanes where they overlap.
void tell_program(const Scenario& scenario, const ProgramResult& result, TimelineSink& sink);

}  // namespace podsim::scenarios
