// How unequal the work of an axis' members is, and the same step with equal work.
#pragma once

#include <optional>
#include <string>

#include "scenarios/lower/lower_step.h"
#include "scenarios/spec/scenario.h"
#include "sim/base/time.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

struct TrainingStep;

/// Of an axis whose members do unequal work: the most over the mean of its members.
struct Imbalance {
    double attention = 1;  ///< FLOPs of attention's dot products
    double experts = 1;    ///< tokens of experts
    double compute = 1;    ///< time of the compute stream's work
    /// The step if all did the mean; only where it is explained, and where a plan says how: not of windows in a ring on
    /// zig-zag parts.
    std::optional<sim::Time> even_step{};
};

/// Without `even_step`; nothing where all members of every axis do the same.
std::optional<Imbalance> imbalance_of(const TrainingStep& described,
                                      const workloads::StepPrograms& programs,
                                      const LoweredStep& step);

/// The scenario in which all members do the mean: zig-zag placement and equal experts. Nothing where no plan says how.
std::optional<Scenario> with_even_work(const Scenario& scenario);

/// The ranks of a program along the axes whose members do unequal work: `context rank 3`; empty without.
std::string member_text(const workloads::StepPrograms& programs, const topology::DeviceMesh& mesh,
                        std::size_t program);

}  // namespace podsim::scenarios
