// Makes a step program from an HLO module: one operation for each kernel, collective and copy that
// the module runs, with loops unrolled.
//
// Kernels run in sequence, in the order of the text. In a scheduled module an asynchronous
// instruction (`X-start`) begins when the stream reaches it, and the stream waits at its `-done`;
// other collectives hold the stream up until they end. A module that is not scheduled has no
// starts: a collective begins when its operands are ready, and kernels wait for their operands.
// Iterations of a loop do not overlap, as in XLA. Copies into VMEM move with the kernels between
// their start and their end, in proportion to the work of these.
//
// A `conditional` runs its branch of most FLOPs and a loop every iteration, as in totals_of. Memory
// is not simulated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/hlo/device_axes.h"
#include "workloads/hlo/totals.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads::hlo {

struct ImportedStep {
    StepProgram program;
    bool scheduled = false;
    /// Permutes that end at an edge, played as closed ones.
    double open_permutes = 0;
    /// AllToAlls of unknown sizes, played with their whole buffers.
    double ragged = 0;
};

/// Limit of the operations of a program.
inline constexpr std::size_t kMostOperations = 1'000'000;

/// Throws sim::InputError.
ImportedStep import_step(const Module& module, const DeviceAxes& axes, const CostRules& rules,
                         const GivenTrips& trips);

}  // namespace podsim::workloads::hlo
