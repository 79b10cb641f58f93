// A scenario that expects a measured time, and the values that the calibration takes from it.
//
// Training steps and inference are fitted apart: a decode step runs other kernels, and has a host
// between steps. The measurement of a serving run is the time between tokens. A rate of tokens a
// second, under requests at their own arrival times, depends on more than steps, and counts apart.
//
// A family is one model series on one generation from one source: the folder of the scenario's
// file. A microbenchmark is a program; it belongs to no family and counts in no mean of steps.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "scenarios/src/scenario/error_band.h"
#include "scenarios/src/scenario/scenario.h"

namespace podsim::scenarios {

/// The object of a measurement.
enum class Measured {
    microbenchmark,
    /// A training step, a step of inference, or the time between tokens of a serving run.
    step,
    /// Tokens a second of a serving run; the time is that of one token.
    throughput,
};

struct Measurement {
    std::size_t number = 0;  ///< index among all measurements
    const Scenario* scenario = nullptr;
    std::string chip;
    std::string family;
    std::string defines;  ///< the factor that it isolates; empty: none
    double measured_s = 0;
    /// Factor on the noise of others: 3 for an inference measurement of tier B, in which every step
    /// contains unstated details (how caches are laid out, how weights are converted).
    double noise = 1;
    Measured what = Measured::microbenchmark;
    StepKind kind;             ///< of a step
    std::int64_t d_model = 0;  ///< of a step's model
    /// Work that a formula on paper knows for a step, in FLOPs on one chip: 6 x active parameters x
    /// tokens, and 2 x for evaluation steps of a block. For inference, the FLOPs at the peak in the
    /// reference text's time of the step (book_inference.h).
    double work = 0;
    double bf16_peak = 0;    ///< FLOP/s of the chip
    double matmul_peak = 0;  ///< the same for the dtype of its matmuls
};

/// Returns the measurements of training steps, or of inference, with the microbenchmarks. Each
/// scenario has one expectation, of a time, or of a serving run's tokens a second. Throws
/// sim::InputError for a scenario without one. The scenarios outlive the result.
std::vector<Measurement> measurements_of(std::span<const Scenario> scenarios, bool inference);

}  // namespace podsim::scenarios
