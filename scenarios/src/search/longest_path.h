// The longest path through the programs of a step, every operation at its lower bound.
//
// No run ends before it: an operation begins when its predecessors have ended, and takes at least
// its lower bound. The transfer that a receiver waits for begins when its sender's operation
// begins. Fronts (time_front.h) distinguish chips that are not alike. Programs of members of
// unequal work that share a collective begin it together; the path ignores this, which only makes
// it shorter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/src/search/time_front.h"
#include "sim/base/time.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// The edges that a path follows.
enum class Edges {
    scheduled,  ///< Op::after: the order in which the step runs
    needed,     ///< Op::needs and Op::limits, which every order keeps to
};

/// A stretch of a program of which the full step has `copies` more, one behind the other. It
/// reaches from the end of operation `from` to the end of `to`, both on the compute stream. From
/// the operations before an end of the stretch, a path takes only those that lead through that end.
struct RepeatedStretch {
    workloads::OpIndex from = 0;
    workloads::OpIndex to = 0;
    std::int64_t copies = 0;
};

/// Returns the longest path of one program. `times` is by operation; `stretches` are in order and
/// disjoint.
sim::Time longest_path(const workloads::StepProgram& program, std::span<const LeastTime> times,
                       Edges edges, std::span<const RepeatedStretch> stretches = {});

/// Returns the longest path of several programs, whose handovers wait for each other. `times` is by
/// program and operation, for a receiver the time of its bytes. `launch`: the time from the begin
/// of a sender's operation until its bytes move.
sim::Time longest_path(const workloads::StepPrograms& programs,
                       std::span<const std::vector<LeastTime>> times, Edges edges,
                       sim::Time launch);

}  // namespace podsim::scenarios
