// What is surely still to come of a step when an operation begins: the longest path from there, every operation at its least time.
//
// If no chip of a run has begun operation i before t, all are at a front {t, t, ...} before it (time_front.h), and the step ends no sooner
// than t + left[i]. A front f becomes the step's end by max(f[k] + left[k]); what `TimeFront::behind` does, taken backwards, is
//   alike:     left'[k] = left[k] + B              nobody:  left'[0] = left[0] + receive
//   a family:  left'[0] = max(left[0] + receive, left[own] + B),  left'[own] = max(left[0], left[own] + send)
#pragma once

#include <span>
#include <vector>

#include "scenarios/least/known_bounds.h"
#include "scenarios/least/time_front.h"
#include "scenarios/spec/scenario.h"
#include "sim/base/time.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// By operation of a program whose operations run in the order of Op::after. `times`: of each.
std::vector<sim::Time> times_left(const workloads::StepProgram& program,
                                  std::span<const LeastTime> times);

/// The same of the programs that a scenario's step runs (simulate/step_programs.h). Nothing of several programs, which wait for each other.
/// `known`: what was worked out of collectives before.
std::vector<sim::Time> times_left(const Scenario& scenario, const workloads::StepPrograms& programs,
                                  KnownBounds& known);

}  // namespace podsim::scenarios
