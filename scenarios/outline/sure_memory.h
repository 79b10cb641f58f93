// What a chip holds of HBM for sure, whatever the times of a run turn out to be, and in program order.
//
// A buffer is there from the begin of the operation that fills it to the end of the last that frees it. While a compute operation X
// runs, it is there for sure where X is that operation or does not begin before it by the step's dependencies, and X comes before, or is, one
// that frees it. All compute operations of a scheduled step come one behind the other; a step whose order a list scheduler is
// still to choose has one such place that any order keeps: the last compute operation before the backward pass.
#pragma once

#include <vector>

#include "workloads/program/step_program.h"

namespace podsim::scenarios {

struct HeldBytes {
    double all = 0;
    double without_gathered =
        0;  ///< without weights gathered ahead, of which a plan may have fewer
    /// At the last compute operation before the backward pass alone: what the plan keeps there however its collectives go, which is
    /// parameters, the optimizer's state, caches and what the forward pass saves.
    double kept = 0;

    HeldBytes& operator+=(const HeldBytes& other) {
        all += other.all;
        without_gathered += other.without_gathered;
        kept += other.kept;
        return *this;
    }
};

/// By operation: what is held for sure while it computes; zero of those for which nothing is sure. `scheduled`: the program's order
/// is the one in which it runs.
std::vector<HeldBytes> held_for_sure(const workloads::StepProgram& program, bool scheduled);

/// By operation: what is held when all run one after the other (peak_in_program_order).
std::vector<double> held_in_order(const workloads::StepProgram& program);

}  // namespace podsim::scenarios
