// A step program from an HLO module: one operation for each kernel, collective and copy that the module runs, loops unrolled.
//
// Kernels run one after another in the order of the text. What is asynchronous (`X-start`) begins when the stream has come to it, if the
// module is scheduled, and the stream waits at its `-done`; other collectives of a scheduled module hold the stream up until they have
// ended. A module that is not scheduled has no starts: there a collective begins as soon as what it reads is there, and kernels
// wait for what they read. Iterations of a loop do not overlap, as XLA runs them. Copies into VMEM move with the kernels
// between their start and their end, in proportion to what these compute.
//
// Of a `conditional` the branch of most FLOPs runs, of loops every iteration; both as totals_of counts them. Memory is not followed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/hlo_step/device_axes.h"
#include "workloads/hlo_totals/totals.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads::hlo {

struct ImportedStep {
    StepProgram program;
    bool scheduled = false;
    double open_permutes = 0;  ///< that end at an edge, played as closed ones
    double ragged = 0;         ///< AllToAlls of unknown sizes, played with all of their buffers
};

/// The largest program that is made: operations.
inline constexpr std::size_t kMostOperations = 1'000'000;

/// Throws sim::InputError.
ImportedStep import_step(const Module& module, const DeviceAxes& axes, const CostRules& rules,
                         const GivenTrips& trips);

}  // namespace podsim::workloads::hlo
