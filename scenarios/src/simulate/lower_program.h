// Lowering of a program's stages to a workload of the kernel: one task for each piece of a stage,
// or for each ring step and segment of a matmul with a gathered operand, on the simulated places.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/scenario/program.h"
#include "scenarios/src/simulate/layout.h"
#include "sim/workload/task_graph.h"

namespace podsim::scenarios {

struct LoweredProgram {
    sim::Workload workload;
    Layout layout;
    std::vector<sim::Bytes> kernels;  ///< [graph]: bytes that a chip's kernels read and write
    /// The stage of every task, the same in every graph. Chips that do not compute in a stage take
    /// no time in it.
    std::vector<std::size_t> stage_of_task;
};

/// Lowers the program. Throws sim::InputError if a stage cannot be carried out, Stopped if the
/// watch ends it.
LoweredProgram lower_program(const AchievedHardware& hardware, const Program& program, Fold fold,
                             Watch* watch = nullptr);

}  // namespace podsim::scenarios
