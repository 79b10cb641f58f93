// Fitting the factors of a profile (topology/chips/efficiency.h) to measured step times.
//
// Unknowns: some factors for each chip, some pooled over all chips. The sum over measurements of ln(simulated /
// measured)^2 is minimised by Levenberg and Marquardt's method, each unknown within its bounds by a logistic
// substitution; a weak pull (kPull) to where it started keeps factors still that no measurement depends on.
// Derivatives are differences of simulations.
//
// Held out: each chip's measurements are predicted once more by factors fitted without them, where its own are the
// means of the other chips'. A factor that fits noise shows as a held-out error far above the fitted one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/spec/scenario.h"
#include "scenarios/watch/watch.h"

namespace podsim::scenarios {

struct CalibrationOptions {
    std::vector<std::string> per_chip{"mxu"};
    std::vector<std::string> pooled{"straggler"};
    int jobs = 1;
};

struct FittedFactor {
    std::string factor;
    std::string chip;  ///< empty: pooled
    double value = 0;
    double error = 0;  ///< one standard deviation, from the curvature of the sum and its size
    bool determined = false;  ///< by the measurements, not by the pull to where it started
};

struct CalibratedPoint {
    std::string name;
    std::string chip;
    double measured_s = 0;
    double fitted_s = 0;
    std::optional<double> held_out_s;  ///< none without measurements of another chip
};

struct Calibration {
    std::vector<FittedFactor> factors;
    std::vector<CalibratedPoint> points;
};

/// The time that a scenario's reference is about, simulated: a step, a block of steps, or a program.
double simulated_reference(const Scenario& scenario, Watch* watch = nullptr);

/// Each scenario has one expectation, of a time. Throws sim::InputError for unknown factors, factors
/// named twice, and scenarios without a measurement.
Calibration calibrate(std::span<const Scenario> measurements, const CalibrationOptions& options,
                      Watch* watch = nullptr);

/// Mean absolute relative error, and the mean signed one.
struct ErrorSummary {
    double mean_absolute = 0;
    double bias = 0;
    double worst = 0;  ///< the largest by size, with its sign
};
ErrorSummary summarise(std::span<const double> relative_errors);

}  // namespace podsim::scenarios
