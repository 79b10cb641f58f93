#include "scenarios/src/study/fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "scenarios/src/base/parallel.h"
#include "scenarios/src/scenario/quantity_names.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/serve/serve_scenario.h"
#include "scenarios/src/serve/serving_quantities.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/study/priors.h"

namespace podsim::scenarios {
namespace {

/// Returns the time that a serving run is compared with: seconds, or those of a token.
double served_time(const Scenario& scenario, StepTimes& steps) {
    const std::string& quantity = scenario.expectations.front().quantity;
    const double value = value_of(quantity, serve_scenario(scenario, steps).summary);
    return find_quantity(quantity).unit == ValueUnit::token_rate ? 1 / value : value;
}

Scenario with_factors(const Scenario& scenario, const topology::Efficiency& efficiency) {
    Scenario result = scenario;
    result.hardware.efficiency = efficiency;
    if (scenario.serving != nullptr) {
        auto serving = std::make_shared<ServingSpec>(*scenario.serving);
        serving->host = sim::round_up(sim::Seconds(efficiency.host_s));
        result.serving = std::move(serving);
    }
    return result;
}

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kStep = 0.1;        // of u, for differences
constexpr double kConverged = 0.01;  // of u
constexpr int kMostSteps = 8;
constexpr int kMostHalvings = 4;
constexpr int kMostFixed = 64;  // rounds of fixing unknowns at their bounds

bool is_of(const Unknown& unknown, const std::string& chip) {
    return unknown.chip.empty() || unknown.chip == chip;
}

struct Bounds {
    VectorXd least;
    VectorXd most;
};

Bounds bounds_of(const std::vector<Unknown>& unknowns) {
    const auto count = static_cast<Index>(unknowns.size());
    Bounds bounds{VectorXd(count), VectorXd(count)};
    for (Index i = 0; i < count; ++i) {
        const topology::EfficiencyFactor& factor = *unknowns[static_cast<std::size_t>(i)].factor;
        bounds.least[i] = to_deviations(factor, factor.least);
        bounds.most[i] = to_deviations(factor, factor.most);
    }
    return bounds;
}

VectorXd logarithms(const FitProblem& problem, const VectorXd& u, SimulatedTimes& times) {
    std::vector<FitTrial> trials;
    for (const Measurement& measurement : problem.measurements) {
        trials.push_back({&measurement, efficiency_at(problem, measurement.chip, u)});
    }
    const std::vector<double> simulated = times.of(trials);
    VectorXd rest(static_cast<Index>(simulated.size()));
    for (std::size_t i = 0; i < simulated.size(); ++i) {
        rest[static_cast<Index>(i)] = std::log(simulated[i] / problem.measurements[i].measured_s);
    }
    return rest;
}

/// Returns the derivatives as differences, taken inwards if the step would leave the range.
MatrixXd derivatives(const FitProblem& problem, const VectorXd& u, const VectorXd& rest,
                     SimulatedTimes& times) {
    struct Cell {
        Index row;
        Index column;
        double step;
    };
    const Bounds bounds = bounds_of(problem.unknowns);
    std::vector<FitTrial> trials;
    std::vector<Cell> cells;
    for (Index column = 0; column < u.size(); ++column) {
        const double step = u[column] + kStep <= bounds.most[column] ? kStep : -kStep;
        VectorXd moved = u;
        moved[column] += step;
        for (std::size_t row = 0; row < problem.measurements.size(); ++row) {
            const Measurement& measurement = problem.measurements[row];
            if (is_of(problem.unknowns[static_cast<std::size_t>(column)], measurement.chip)) {
                trials.push_back({&measurement, efficiency_at(problem, measurement.chip, moved)});
                cells.push_back({static_cast<Index>(row), column, step});
            }
        }
    }
    const std::vector<double> simulated = times.of(trials);
    MatrixXd jacobian = MatrixXd::Zero(rest.size(), u.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const Cell& cell = cells[i];
        const double measured = problem.measurements[static_cast<std::size_t>(cell.row)].measured_s;
        jacobian(cell.row, cell.column) =
            (std::log(simulated[i] / measured) - rest[cell.row]) / cell.step;
    }
    return jacobian;
}

/// Returns 1 / noise of each measurement.
VectorXd weights_of(const FitProblem& problem) {
    VectorXd weights(static_cast<Index>(problem.measurements.size()));
    for (std::size_t i = 0; i < problem.measurements.size(); ++i) {
        weights[static_cast<Index>(i)] = 1 / (problem.noise * problem.measurements[i].noise);
    }
    return weights;
}

double objective(const FitProblem& problem, const VectorXd& rest, const VectorXd& u) {
    return rest.cwiseProduct(weights_of(problem)).squaredNorm() + u.squaredNorm();
}

/// Returns the u that minimises |weights (rest + J (u - at))|^2 + |u|^2 within the bounds. Unknowns
/// that leave the bounds are fixed there, the farthest first.
VectorXd minimum(MatrixXd jacobian, VectorXd rest, const VectorXd& at, const VectorXd& weights,
                 const Bounds& bounds) {
    jacobian = weights.asDiagonal() * jacobian;
    rest = rest.cwiseProduct(weights);
    VectorXd u = at;
    std::vector<bool> fixed(static_cast<std::size_t>(at.size()), false);
    for (int round = 0; round < kMostFixed; ++round) {
        std::vector<Index> open;
        for (Index i = 0; i < at.size(); ++i) {
            if (!fixed[static_cast<std::size_t>(i)]) {
                open.push_back(i);
            }
        }
        if (open.empty()) {
            return u;
        }
        VectorXd target = jacobian * at - rest;
        for (Index i = 0; i < at.size(); ++i) {
            if (fixed[static_cast<std::size_t>(i)]) {
                target -= jacobian.col(i) * u[i];
            }
        }
        const MatrixXd part = jacobian(Eigen::all, open);
        const auto count = static_cast<Index>(open.size());
        const MatrixXd normal = part.transpose() * part + MatrixXd::Identity(count, count);
        const VectorXd found = normal.ldlt().solve(part.transpose() * target);
        Index farthest = -1;
        double most = 0;
        for (Index i = 0; i < count; ++i) {
            const Index place = open[static_cast<std::size_t>(i)];
            u[place] = found[i];
            const double beyond =
                std::max(bounds.least[place] - found[i], found[i] - bounds.most[place]);
            if (beyond > most) {
                most = beyond;
                farthest = place;
            }
        }
        if (farthest < 0) {
            return u;
        }
        fixed[static_cast<std::size_t>(farthest)] = true;
        u[farthest] = std::clamp(u[farthest], bounds.least[farthest], bounds.most[farthest]);
    }
    return u.cwiseMax(bounds.least).cwiseMin(bounds.most);
}

}  // namespace

double simulated_reference(const Scenario& scenario, Watch* watch) {
    if (scenario.serving != nullptr) {
        SimulatedStepTimes steps(scenario);
        return served_time(scenario, steps);
    }
    if (scenario.is_program()) {
        return simulate_program(scenario.hardware, scenario.program(), Fold::automatic, watch)
            .time.seconds();
    }
    const StepResult result =
        simulate_step(scenario, Fold::automatic, {.reuse = true, .explain = false, .watch = watch});
    return (scenario.step().evaluation.has_value() ? result.block : result.step_time).seconds();
}

/// The steps of a server with those factors except for the host's time, which does not affect them.
/// They are simulated once for all host times.
class SimulatedTimes::Steps {
public:
    explicit Steps(const Scenario& scenario) : simulated_(scenario), remembered_(simulated_) {}

    double served(const Scenario& scenario) {
        const std::lock_guard lock(mutex_);
        return served_time(scenario, remembered_);
    }

private:
    std::mutex mutex_;
    SimulatedStepTimes simulated_;
    MemoisedStepTimes remembered_;
};

SimulatedTimes::SimulatedTimes(int jobs, Watch* watch) : jobs_(jobs), watch_(watch) {}
SimulatedTimes::~SimulatedTimes() = default;

SimulatedTimes::Steps& SimulatedTimes::steps_of(const FitTrial& trial, const Scenario& scenario) {
    topology::Efficiency without_host = trial.efficiency;
    without_host.host_s = 0;
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Steps>& steps = steps_[key_of({trial.measurement, without_host})];
    if (steps == nullptr) {
        steps = std::make_unique<Steps>(scenario);
    }
    return *steps;
}

SimulatedTimes::Key SimulatedTimes::key_of(const FitTrial& trial) {
    Key key{trial.measurement->number, {}};
    for (const topology::EfficiencyFactor& factor : topology::efficiency_factors()) {
        key.second.push_back(trial.efficiency.*(factor.value));
    }
    return key;
}

std::vector<double> SimulatedTimes::of(std::span<const FitTrial> trials) {
    using Clock = std::chrono::steady_clock;
    std::vector<Key> keys;
    std::vector<std::size_t> missing;
    for (const FitTrial& trial : trials) {
        Key key = key_of(trial);
        if (!times_.contains(key) && std::ranges::find(keys, key) == keys.end()) {
            missing.push_back(keys.size());
        }
        keys.push_back(std::move(key));
    }
    std::ranges::stable_sort(missing, std::greater{}, [&](std::size_t i) {
        const auto known = effort_.find(trials[i].measurement->number);
        return known == effort_.end() ? 0 : known->second;
    });
    struct Run {
        double time = 0;
        double effort = 0;
    };
    run_in_order(
        0, missing.size(), jobs_,
        [&](std::size_t i) {
            const FitTrial& trial = trials[missing[i]];
            const Scenario scenario = with_factors(*trial.measurement->scenario, trial.efficiency);
            const Clock::time_point begin = Clock::now();
            const double time = scenario.serving != nullptr
                                    ? steps_of(trial, scenario).served(scenario)
                                    : simulated_reference(scenario, watch_);
            return Run{time, std::chrono::duration<double>(Clock::now() - begin).count()};
        },
        [&](std::size_t i, const Run& run) {
            times_.emplace(keys[missing[i]], run.time);
            double& effort = effort_[trials[missing[i]].measurement->number];
            effort = std::max(effort, run.effort);
        },
        [] { return false; });
    std::vector<double> times;
    times.reserve(keys.size());
    for (const Key& key : keys) {
        times.push_back(times_.at(key));
    }
    return times;
}

topology::Efficiency efficiency_at(const FitProblem& problem, const std::string& chip,
                                   const VectorXd& u) {
    topology::Efficiency efficiency = problem.others.at(chip);
    for (std::size_t i = 0; i < problem.unknowns.size(); ++i) {
        const Unknown& unknown = problem.unknowns[i];
        if (is_of(unknown, chip)) {
            efficiency.*(unknown.factor->value) =
                from_deviations(*unknown.factor, u[static_cast<Index>(i)]);
        }
    }
    return efficiency;
}

Fit fit_factors(const FitProblem& problem, const VectorXd& start, SimulatedTimes& times) {
    const Bounds bounds = bounds_of(problem.unknowns);
    Fit fit{.problem = problem,
            .u = start.cwiseMax(bounds.least).cwiseMin(bounds.most),
            .rest = {},
            .jacobian = {},
            .variance = {}};
    fit.rest = logarithms(problem, fit.u, times);
    if (start.size() == 0) {  // nothing to find
        fit.jacobian = MatrixXd(fit.rest.size(), 0);
        fit.variance = VectorXd(0);
        fit.converged = true;
        return fit;
    }
    for (int step = 0; step < kMostSteps && !fit.converged; ++step) {
        fit.jacobian = derivatives(problem, fit.u, fit.rest, times);
        const VectorXd aim = minimum(fit.jacobian, fit.rest, fit.u, weights_of(problem), bounds);
        VectorXd way = aim - fit.u;
        const double before = objective(problem, fit.rest, fit.u);
        fit.converged = true;
        for (int halving = 0; halving < kMostHalvings && way.cwiseAbs().maxCoeff() > kConverged;
             ++halving, way /= 2) {
            const VectorXd next = fit.u + way;
            const VectorXd rest = logarithms(problem, next, times);
            if (objective(problem, rest, next) < before) {
                fit.u = next;
                fit.rest = rest;
                fit.converged = false;
                break;
            }
        }
    }
    const auto count = fit.u.size();
    const MatrixXd weighted = weights_of(problem).asDiagonal() * fit.jacobian;
    const MatrixXd information = weighted.transpose() * weighted + MatrixXd::Identity(count, count);
    fit.variance = information.inverse().diagonal();
    return fit;
}

VectorXd refit_without(const Fit& fit, const std::vector<bool>& left_out) {
    MatrixXd jacobian = fit.jacobian;
    VectorXd rest = fit.rest;
    for (std::size_t i = 0; i < left_out.size(); ++i) {
        if (left_out[i]) {
            jacobian.row(static_cast<Index>(i)).setZero();
            rest[static_cast<Index>(i)] = 0;
        }
    }
    return minimum(jacobian, rest, fit.u, weights_of(fit.problem), bounds_of(fit.problem.unknowns));
}

}  // namespace podsim::scenarios
