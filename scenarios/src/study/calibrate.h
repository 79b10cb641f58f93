// Fits the factors of a profile (topology/chips/efficiency.h) to measured times, and reports how
// far to believe it.
//
// 1. Microbenchmarks come first. The factor that a scenario `defines` is fitted to all such
//    scenarios of each chip together; chips without them take the geometric mean of the others'.
//    (Together with mxu_ramp, which is how rates fall with size, the fraction of the peak is free,
//    and not kept.) A factor that is fitted to steps is not defined in this manner.
// 2. The named factors are fitted to the steps, from and with the pull of priors that no step has
//    informed (priors.h). Factors that the steps do not determine (more than a quarter of the
//    prior's variance is left) stay at the prior, and the others are fitted again.
// 3. The same fit begins a second time, from the scenarios' own profile: both must agree.
// 4. Each step is predicted by factors fitted without its chip's steps and without its family's. A
//    chip without steps of its own takes the geometric mean of the others' factors. Microbenchmarks
//    are no steps and stay.
// 5. The one-constant rules go through the same, pairs are counted,
//    and the band is drawn (band.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/scenario/profile.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/study/measurement.h"
#include "scenarios/src/study/pair_order.h"
#include "scenarios/src/study/ratio_error.h"

namespace podsim::scenarios {

// The rules that a simulator has to beat: a step takes 6ND at X % MFU, where X is one number for
// each chip, or for each chip and kind of matmuls.
//
// X is fitted like podsim's factors, by the least squares of ln(predicted / measured): the
// geometric mean of 6ND / (measured time x peak). The rule per chip uses the bf16 peak; that per
// chip and precision uses the peak of the step's own matmuls. If no step with the key exists to fit
// X to, X is that of the nearest steps: of the chip, whatever its matmuls, then of the kind of
// matmuls, then of all.

enum class RuleKey { chip, chip_and_precision };

/// Returns the seconds of a step by the rule fitted to `known`; none if `known` is empty.
std::optional<double> rule_time(RuleKey key, std::span<const Measurement> known,
                                const Measurement& step);

struct CalibrationOptions {
    std::vector<std::string> per_chip{"mxu"};
    std::vector<std::string> pooled{"straggler"};
    bool inference = false;  ///< fit to steps of inference, not of training
    int jobs = 1;
};

struct FittedFactor {
    std::string factor;
    std::string chip;  ///< empty: of all
    double value = 0;
    double prior = 0;
    double error = 0;  ///< one standard deviation; 0 if it was defined
    std::string by;    ///< `steps`, `microbenchmarks`, `prior`
    bool determined = false;
    /// True if the steps would have it beyond its limit.
    bool at_limit = false;
    std::optional<double> other_start;  ///< value from the second start
};

/// Predictions of one method for one measurement; none if nothing is left to fit to.
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
    /// For a microbenchmark, and for tokens a second, only `fitted_s` is set.
    Predictions podsim;
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
    /// Fraction of the errors held out by family that lie within the band.
    double covered = 0;
    bool converged = false;
    bool inference = false;    ///< of steps of inference, not of training
    std::size_t left_out = 0;  ///< scenarios of the other kind, training or inference
    Profile profile;
};

/// Fits a profile to scenarios. Each scenario has one expectation, of a time. Throws
/// sim::InputError for unknown factors, factors named twice, and scenarios without a measurement.
Calibration calibrate(std::span<const Scenario> measurements, const CalibrationOptions& options,
                      Watch* watch = nullptr);

}  // namespace podsim::scenarios
