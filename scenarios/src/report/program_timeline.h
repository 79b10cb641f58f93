// A simulated program as a timeline.
#pragma once

#include "scenarios/src/report/timeline.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// Emits one process that stands for all chips. It shows the program and its stages, each from its
/// first segment on any chip to its last on all. Tracks are named after the resource that bounds a
/// stage (`ICI`, `MXU`, `PCIe`), with lanes for stages that overlap.
void tell_program(const Scenario& scenario, const ProgramResult& result, TimelineSink& sink);

}  // namespace podsim::scenarios
