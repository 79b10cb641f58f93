// The bytes of HBM that a chip holds for sure, whatever the times of a run turn out to be, and in
// program order.
//
// A buffer exists from the begin of the operation that fills it to the end of the last operation
// that frees it. While a compute operation X runs, the buffer exists for sure if two conditions
// hold: X fills it, or does not begin before the operation that does by the step's dependencies;
// and X frees it, or comes before an operation that does. All compute operations of a scheduled
// step run one behind the other. A step whose order a list scheduler has yet to choose has one
// position that any order keeps: the last compute operation before the backward pass.
#pragma once

#include <vector>

#include "workloads/program/step_program.h"

namespace podsim::scenarios {

struct HeldBytes {
    double all = 0;
    /// Without weights gathered ahead, of which a plan may have fewer.
    double without_gathered = 0;
    /// Only at the last compute operation before the backward pass: the bytes that the plan keeps
    /// there however its collectives go. These are parameters, the optimizer's state, caches and
    /// the results that the forward pass saves.
    double kept = 0;

    HeldBytes& operator+=(const HeldBytes& other) {
        all += other.all;
        without_gathered += other.without_gathered;
        kept += other.kept;
        return *this;
    }
};

/// Returns, by operation, the bytes held for sure while it computes; zero if nothing is sure.
/// `scheduled`: the step runs in the program's order.
std::vector<HeldBytes> held_for_sure(const workloads::StepProgram& program, bool scheduled);

/// Returns, by operation, the bytes held if all run one after the other (peak_in_program_order).
std::vector<double> held_in_order(const workloads::StepProgram& program);

}  // namespace podsim::scenarios
