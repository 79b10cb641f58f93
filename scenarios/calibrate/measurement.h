// A scenario that expects a measured time, and what of it the calibration goes by.
//
// A family is one model series on one generation from one source: the folder that the scenario's file is in. A
// microbenchmark is a program; it belongs to no family and counts in no mean of steps.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "scenarios/spec/error_band.h"
#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

struct Measurement {
    std::size_t number = 0;  ///< its place among all
    const Scenario* scenario = nullptr;
    std::string chip;
    std::string family;
    std::string defines;  ///< the factor that it isolates; empty: none
    double measured_s = 0;
    bool is_step = false;
    StepKind kind;  ///< of a step
    /// Of a step, FLOPs on one chip: 6 x active parameters x tokens, and 2 x of evaluation steps of a block.
    double six_nd = 0;
    double bf16_peak = 0;    ///< FLOP/s of the chip
    double matmul_peak = 0;  ///< the same of the dtype of its matmuls
};

/// Each scenario has one expectation, of a time. Throws sim::InputError for one without. The scenarios outlive the result.
std::vector<Measurement> measurements_of(std::span<const Scenario> scenarios);

}  // namespace podsim::scenarios
