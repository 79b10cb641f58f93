// From the stages of a program to a workload of the kernel: one task per piece of a stage, or per ring step and part
// of a matmul with a gathered operand, on the places that are simulated.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/lower/layout.h"
#include "scenarios/spec/program.h"
#include "scenarios/watch/watch.h"
#include "sim/workload/task_graph.h"

namespace podsim::scenarios {

struct LoweredProgram {
    sim::Workload workload;
    Layout layout;
    std::vector<sim::Bytes> kernels;  ///< [graph]: what a chip's kernels read and write
    /// The stage of every task, which is the same in every graph: chips that do not compute in a stage take no time in it.
    std::vector<std::size_t> stage_of_task;
};

/// Throws sim::InputError where a stage cannot be carried out, Stopped where the watch ends it.
LoweredProgram lower_program(const AchievedHardware& hardware, const Program& program, Fold fold,
                             Watch* watch = nullptr);

}  // namespace podsim::scenarios
