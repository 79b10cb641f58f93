// What it costs that members of an axis do unequal work: the same step with equal work beside it.
#pragma once

#include <optional>
#include <string>

#include "scenarios/lower/lower_step.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/scenario.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Nothing where all members of every axis do the same. With plain placement or unequal experts it runs the step once
/// more, with zig-zag placement and equal experts.
std::optional<Imbalance> imbalance_of(const Scenario& scenario,
                                      const workloads::StepPrograms& programs,
                                      const LoweredStep& step, StepOptions options);

/// The ranks of a program along the axes whose members do unequal work: `context rank 3`; empty without.
std::string member_text(const workloads::StepPrograms& programs, const topology::DeviceMesh& mesh,
                        std::size_t program);

}  // namespace podsim::scenarios
