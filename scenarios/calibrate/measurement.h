// A scenario that expects a measured time, and what of it the calibration goes by.
//
// Training steps and inference are fitted apart: a decode step runs other kernels, and a host between steps. Of a serving run
// the measurement is the time between tokens; one of tokens a second, where requests come as they do, hangs on more than
// steps, and counts apart.
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

/// What a measurement is of.
enum class Measured {
    microbenchmark,
    step,  ///< a training step, a step of inference, or the time between tokens of a serving run
    throughput,  ///< of a serving run; the time is that of one token
};

struct Measurement {
    std::size_t number = 0;  ///< its place among all
    const Scenario* scenario = nullptr;
    std::string chip;
    std::string family;
    std::string defines;  ///< the factor that it isolates; empty: none
    double measured_s = 0;
    /// How many times the noise of others: 3 of an inference measurement of tier B, where what is not stated (how caches are
    /// laid out, how weights are converted) is part of every step.
    double noise = 1;
    Measured what = Measured::microbenchmark;
    StepKind kind;             ///< of a step
    std::int64_t d_model = 0;  ///< of a step's model
    /// What a formula on paper knows of a step, in FLOPs on one chip: 6 x active parameters x tokens, and 2 x of evaluation
    /// steps of a block; of inference, what the peak does in the reference text's time of the step (book_inference.h).
    double work = 0;
    double bf16_peak = 0;    ///< FLOP/s of the chip
    double matmul_peak = 0;  ///< the same of the dtype of its matmuls
};

/// Of training steps, or of inference; with the microbenchmarks. Each scenario has one expectation, of a time, or of a
/// serving run's tokens a second. Throws sim::InputError for one without. The scenarios outlive the result.
std::vector<Measurement> measurements_of(std::span<const Scenario> scenarios, bool inference);

}  // namespace podsim::scenarios
