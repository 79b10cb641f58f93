// Least squares of factors on measured times, within the factors' ranges and with their priors.
//
// Unknowns are deviations u from the prior (priors.h). Gauss and Newton's method minimises the sum
// over measurements of (ln(simulated / measured) / noise)^2 plus the sum of u^2. It uses simulated
// derivatives and a step within the bounds, which is halved while the true sum would rise. The
// covariance of u is that of the same sum, so a variance of 1 means that nothing was learned. Fits
// that leave measurements out take one step by the derivatives at the optimum of all measurements,
// which the small shift allows; their predictions are simulated.
#pragma once

#include <Eigen/Dense>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/scenario/profile.h"
#include "scenarios/src/study/measurement.h"
#include "topology/chips/efficiency.h"

namespace podsim::scenarios {

// Simulates measurements at settings of the factors, each pair once: fits ask for the same times
// repeatedly.

/// Simulates the time to which a scenario's reference refers: a step, a block of steps, a program,
/// or the quantity that a serving run is compared with; for tokens a second, the time of one token.
double simulated_reference(const Scenario& scenario, Watch* watch = nullptr);

struct FitTrial {
    const Measurement* measurement = nullptr;
    topology::Efficiency efficiency;
};

class SimulatedTimes {
public:
    SimulatedTimes(int jobs, Watch* watch);
    ~SimulatedTimes();

    /// Returns the seconds of each trial, in their order.
    std::vector<double> of(std::span<const FitTrial> trials);
    double of(const FitTrial& trial) { return of(std::span(&trial, 1)).front(); }

private:
    using Key = std::pair<std::size_t, std::vector<double>>;
    class Steps;

    static Key key_of(const FitTrial& trial);
    Steps& steps_of(const FitTrial& trial, const Scenario& scenario);

    int jobs_;
    Watch* watch_;
    std::map<Key, double> times_;
    std::mutex mutex_;  ///< guards `steps_`
    std::map<Key, std::unique_ptr<Steps>> steps_;
    /// Seconds that a measurement takes on this machine: long ones begin first.
    std::map<std::size_t, double> effort_;
};

/// A factor to be found, of one chip or (empty) of all.
struct Unknown {
    const topology::EfficiencyFactor* factor = nullptr;
    std::string chip;
    bool operator==(const Unknown&) const = default;
};

/// The factors of each chip outside a fit: those of its scenarios, replaced by defined or fixed
/// ones.
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

/// Returns the factors of a chip at a point of the fit.
topology::Efficiency efficiency_at(const FitProblem& problem, const std::string& chip,
                                   const Eigen::VectorXd& u);

/// Fits the factors from a start in deviations.
Fit fit_factors(const FitProblem& problem, const Eigen::VectorXd& start, SimulatedTimes& times);

/// Returns the deviations of a fit without the measurements for which `left_out` is true, by the
/// derivatives of the whole fit.
Eigen::VectorXd refit_without(const Fit& fit, const std::vector<bool>& left_out);

}  // namespace podsim::scenarios
