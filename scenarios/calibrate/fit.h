// Least squares of factors on measured times, within the factors' ranges and with their priors.
//
// Unknowns are deviations u from the prior (priors.h). The sum over measurements of (ln(simulated / measured) / noise)^2
// plus the sum of u^2 is minimised by Gauss and Newton's method: simulated derivatives, a step within the bounds, halved
// while the true sum would rise. The covariance of u is that of the same sum, so a variance of 1 means that nothing was
// learned. Fits without some of the measurements go by the derivatives at the optimum of all, one step, which the small
// shift allows; what they predict is simulated.
#pragma once

#include <Eigen/Dense>
#include <map>
#include <string>
#include <vector>

#include "scenarios/calibrate/measurement.h"
#include "scenarios/calibrate/simulated_times.h"
#include "scenarios/profile/profile.h"
#include "topology/chips/efficiency.h"

namespace podsim::scenarios {

/// A factor to be found, of one chip or (empty) of all.
struct Unknown {
    const topology::EfficiencyFactor* factor = nullptr;
    std::string chip;
    bool operator==(const Unknown&) const = default;
};

/// The factors of each chip outside a fit: those of its scenarios, with what is defined or fixed in their places.
using ChipFactors = std::map<std::string, topology::Efficiency>;

struct FitProblem {
    std::vector<Measurement> measurements;
    std::vector<Unknown> unknowns;
    ChipFactors others;
    double noise = 0.05;  ///< deviation of ln(simulated / measured)
};

struct Fit {
    FitProblem problem;
    Eigen::VectorXd u;
    Eigen::VectorXd rest;      ///< ln(simulated / measured) of each measurement
    Eigen::MatrixXd jacobian;  ///< of `rest` by u
    Eigen::VectorXd variance;  ///< of u
    bool converged = false;
};

/// The factors of a chip at a point of the fit.
topology::Efficiency efficiency_at(const FitProblem& problem, const std::string& chip,
                                   const Eigen::VectorXd& u);

/// From that start, in deviations.
Fit fit_factors(const FitProblem& problem, const Eigen::VectorXd& start, SimulatedTimes& times);

/// Deviations of a fit without the measurements of which `left_out` is true, by the derivatives of the whole.
Eigen::VectorXd refit_without(const Fit& fit, const std::vector<bool>& left_out);

}  // namespace podsim::scenarios
