// The order of a step's operations by a latency-hiding scheduler, made once, before anything runs.
//
// The operations are those of the chain's programs, with their buffers; what they need (Op::needs) and what the plan bounds them
// by (Op::limits) holds on, and takes the place of the chain's order. By turns (StepProgram::turns), from the last to the first
// (list_schedule.h):
//   on the stream are compute and collectives that block, in flight the collectives that Overlap::async gives room, all those
//     between slices, and what comes back from the host, one at a time of each kind and, between slices, apart from those within
//     one; ring steps begin as soon as they can, and handovers, neither counts;
//   what is computed, and collectives of activations, stay in their turn. Gathers of weights and reductions of gradients run on
//     into others as far as the plan's bounds allow, but not in a loop of layers (Overlap::layer_loop);
//   what goes to the host goes as soon as it is there.
// Invariants: the same operations; each behind what it needs and what bounds it; turns, and with them units, in the order
// of the chain; the same order for all members of a stage, which take the longest time of each of their operations, so that what they
// share comes in one order; a stage's order of turns is the chain's, so that messages between stages cannot lock up.
// In the order that results, an operation waits (Op::after) for the stream before it, for what has to have ended there by the
// scheduler's order (which keeps the bounds on what is in flight), and for what it needs.
// Buffers are held from the first to the last of the operations that made, read or wrote them in the chain's order. A stage that
// fits in the capacity only in the chain's order keeps that.
#pragma once

#include <vector>

#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "workloads/plan/overlap.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// What the scheduler takes an operation to be.
struct OperationTime {
    sim::Time time;               ///< how long it takes alone
    bool between_slices = false;  ///< it goes over the data-centre network
};
/// Of one program, by operation.
using OperationTimes = std::vector<OperationTime>;

/// `times` by program. Throws sim::InputError where members of a stage differ in their operations, so that one order
/// for all cannot be made.
StepPrograms hide_latency(const StepPrograms& chain, const Overlap& overlap,
                          const std::vector<OperationTimes>& times, sim::Bytes capacity);

}  // namespace podsim::workloads
