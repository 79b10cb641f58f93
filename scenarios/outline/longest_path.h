// The longest path through the programs of a step, every operation at its least time.
//
// No run ends before it: an operation begins when those that it is after have ended, and takes at least its least time. What a
// receiver waits for begins when its sender's operation does. Chips that are not alike are told apart by fronts (time_front.h).
// Programs of members of unequal work that share a collective begin it together; that is left out here, which only makes the path
// shorter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/least/time_front.h"
#include "sim/base/time.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// The edges that a path follows.
enum class Edges {
    scheduled,  ///< Op::after: the order in which the step runs
    needed,     ///< Op::needs and Op::limits, which every order keeps to
};

/// A stretch of a program that the full step has `copies` more of, one behind the other: from the end of operation `from` to the
/// end of `to`, both of the compute stream. Of what lies before an end of the stretch a path takes only what goes through that end.
struct RepeatedStretch {
    workloads::OpIndex from = 0;
    workloads::OpIndex to = 0;
    std::int64_t copies = 0;
};

/// Of one program. `times` by operation; `stretches` in order, disjoint.
sim::Time longest_path(const workloads::StepProgram& program, std::span<const LeastTime> times,
                       Edges edges, std::span<const RepeatedStretch> stretches = {});

/// Of several, whose handovers wait for each other. `times` by program and operation; of a receiver what its bytes take.
/// `launch`: from the begin of a sender's operation until its bytes move.
sim::Time longest_path(const workloads::StepPrograms& programs,
                       std::span<const std::vector<LeastTime>> times, Edges edges,
                       sim::Time launch);

}  // namespace podsim::scenarios
