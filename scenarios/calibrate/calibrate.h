// Fitting the factors of a profile (topology/chips/efficiency.h) to measured times, and saying how far to believe it.
//
// 1. Microbenchmarks come first: what a scenario says that it `defines` is fitted to those of each chip together, and chips
//    without take the geometric mean of the others'. (Beside mxu_ramp, which is how rates fall with size, the share of the peak
//    is free, and not kept.) A factor that is fitted to steps is not defined so.
// 2. The named factors are fitted to the steps, from and with the pull of priors that no step has informed (priors.h). What the
//    steps do not determine (more than a quarter of the prior's variance is left) stays at the prior, and the others are fitted again.
// 3. The same fit begins a second time, from the scenarios' own profile: both must agree.
// 4. Each step is predicted by factors fitted without its chip's steps and without its family's. A chip without steps of its own
//    takes the geometric mean of the others' factors. Microbenchmarks are no steps and stay.
// 5. The one-constant rules go through the same (one_constant.h), pairs are counted (pair_order.h), the band is drawn (band.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/calibrate/pair_order.h"
#include "scenarios/calibrate/ratio_error.h"
#include "scenarios/profile/profile.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/watch/watch.h"

namespace podsim::scenarios {

struct CalibrationOptions {
    std::vector<std::string> per_chip{"mxu"};
    std::vector<std::string> pooled{"straggler"};
    bool inference = false;  ///< fit to steps of inference, in place of training steps
    int jobs = 1;
};

struct FittedFactor {
    std::string factor;
    std::string chip;  ///< empty: of all
    double value = 0;
    double prior = 0;
    double error = 0;  ///< one standard deviation; 0 where it was defined
    std::string by;    ///< `steps`, `microbenchmarks`, `prior`
    bool determined = false;
    bool at_limit = false;              ///< the steps would have it beyond what it may be
    std::optional<double> other_start;  ///< the value from the second start
};

/// Predictions of one method for one measurement; none where nothing is left to fit to.
struct Predictions {
    double fitted_s = 0;
    std::optional<double> without_chip_s;
    std::optional<double> without_family_s;
};

struct CalibratedPoint {
    std::string name;
    std::string chip;
    std::string family;
    std::string tier;
    Measured what{};
    StepKind kind;
    std::int64_t d_model = 0;
    std::string defines;
    double measured_s = 0;
    Predictions podsim;  ///< of a microbenchmark, and of tokens a second, `fitted_s` alone
    Predictions per_chip;
    Predictions per_chip_and_precision;
};

struct Calibration {
    std::vector<FittedFactor> factors;
    std::vector<CalibratedPoint> points;
    PairOrder pairs;  ///< by predictions held out by family
    PairOrder pairs_per_chip;
    PairOrder pairs_per_chip_and_precision;
    RatioErrors ratios;  ///< of predictions held out by family
    double covered = 0;  ///< share of the errors held out by family within the band
    bool converged = false;
    bool inference = false;    ///< of steps of inference, not of training
    std::size_t left_out = 0;  ///< scenarios of the other kind, training or inference
    Profile profile;
};

/// Each scenario has one expectation, of a time. Throws sim::InputError for unknown factors, factors
/// named twice, and scenarios without a measurement.
Calibration calibrate(std::span<const Scenario> measurements, const CalibrationOptions& options,
                      Watch* watch = nullptr);

}  // namespace podsim::scenarios
