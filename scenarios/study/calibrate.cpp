#include "scenarios/study/calibrate.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <mutex>
#include <set>
#include <unsupported/Eigen/LevenbergMarquardt>

#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/program.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/study/parallel.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "topology/chips/efficiency.h"

namespace podsim::scenarios {
namespace {

using topology::EfficiencyFactor;

constexpr double kPull = 0.02;  // of an unknown to its start, beside residuals of some 0.05
constexpr double kMostFromPull =
    0.25;                       // of what is known of a factor, for it to count as determined
constexpr double kStep = 0.02;  // of the substituted unknown, for differences

struct Unknown {
    const EfficiencyFactor* factor = nullptr;
    std::string chip;  ///< empty: of all
};

std::string chip_of(const Scenario& scenario) {
    return scenario.hardware.chip.name;
}

double to_free(const EfficiencyFactor& factor, double value) {
    constexpr double kEdge = 0.01;
    const double share =
        std::clamp((value - factor.least) / (factor.most - factor.least), kEdge, 1 - kEdge);
    return std::log(share / (1 - share));
}

double from_free(const EfficiencyFactor& factor, double free) {
    return factor.least + (factor.most - factor.least) / (1 + std::exp(-free));
}

/// A measurement by its place among all.
struct Point {
    std::size_t number = 0;
    const Scenario* scenario = nullptr;
};
using Points = std::vector<Point>;

/// What has been simulated: fits begin alike, and ask for the same times more than once.
class SimulatedTimes {
public:
    /// Of the point with those factors; simulated the first time.
    double of(const Point& point, const topology::Efficiency& efficiency, Watch* watch) {
        std::pair<std::size_t, std::vector<double>> key{point.number, {}};
        for (const EfficiencyFactor& factor : topology::efficiency_factors()) {
            key.second.push_back(efficiency.*(factor.value));
        }
        {
            const std::scoped_lock lock(mutex_);
            if (const auto known = times_.find(key); known != times_.end()) {
                return known->second;
            }
        }
        Scenario scenario = *point.scenario;
        scenario.hardware.efficiency = efficiency;
        const double time = simulated_reference(scenario, watch);
        const std::scoped_lock lock(mutex_);
        times_.emplace(std::move(key), time);
        return time;
    }

private:
    std::mutex mutex_;
    std::map<std::pair<std::size_t, std::vector<double>>, double> times_;
};

/// Residuals over a set of measurements, as Eigen's solver wants them.
class Residuals : public Eigen::DenseFunctor<double> {
public:
    Residuals(const Points& measurements, std::vector<Unknown> unknowns, Eigen::VectorXd start,
              SimulatedTimes& times, int jobs, Watch* watch)
        : Eigen::DenseFunctor<double>(static_cast<int>(unknowns.size()),
                                      static_cast<int>(measurements.size() + unknowns.size())),
          measurements_(measurements),
          unknowns_(std::move(unknowns)),
          start_(std::move(start)),
          times_(times),
          jobs_(jobs),
          watch_(watch) {}

    int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& residuals) const {
        std::vector<Trial> trials;
        for (std::size_t point = 0; point < measurements_.size(); ++point) {
            trials.push_back({point, x});
        }
        const std::vector<double> points = run(trials);
        for (std::size_t point = 0; point < points.size(); ++point) {
            residuals[static_cast<Eigen::Index>(point)] = points[point];
        }
        residuals.tail(x.size()) = kPull * (x - start_);
        return 0;
    }

    int df(const Eigen::VectorXd& x, Eigen::MatrixXd& jacobian) const {
        std::vector<Trial> trials;
        std::vector<std::pair<Eigen::Index, Eigen::Index>> cells;
        for (std::size_t point = 0; point < measurements_.size(); ++point) {
            trials.push_back({point, x});
        }
        for (Eigen::Index unknown = 0; unknown < x.size(); ++unknown) {
            Eigen::VectorXd moved = x;
            moved[unknown] += kStep;
            const std::string& chip = unknowns_[static_cast<std::size_t>(unknown)].chip;
            for (std::size_t point = 0; point < measurements_.size(); ++point) {
                if (chip.empty() || chip == chip_of(*measurements_[point].scenario)) {
                    trials.push_back({point, moved});
                    cells.emplace_back(static_cast<Eigen::Index>(point), unknown);
                }
            }
        }
        const std::vector<double> values = run(trials);
        jacobian.setZero();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const auto [point, unknown] = cells[i];
            jacobian(point, unknown) =
                (values[measurements_.size() + i] - values[static_cast<std::size_t>(point)]) /
                kStep;
        }
        jacobian.bottomRows(x.size()) = kPull * Eigen::MatrixXd::Identity(x.size(), x.size());
        return 0;
    }

    [[nodiscard]] double simulate(std::size_t point, const Eigen::VectorXd& x) const {
        const Scenario& scenario = *measurements_[point].scenario;
        topology::Efficiency efficiency = scenario.hardware.efficiency;
        for (std::size_t i = 0; i < unknowns_.size(); ++i) {
            const Unknown& unknown = unknowns_[i];
            if (unknown.chip.empty() || unknown.chip == chip_of(scenario)) {
                efficiency.*(unknown.factor->value) =
                    from_free(*unknown.factor, x[static_cast<Eigen::Index>(i)]);
            }
        }
        return times_.of(measurements_[point], efficiency, watch_);
    }

private:
    struct Trial {
        std::size_t point = 0;
        Eigen::VectorXd x;
    };

    [[nodiscard]] std::vector<double> run(const std::vector<Trial>& trials) const {
        std::vector<double> values;
        run_in_order(
            0, trials.size(), jobs_,
            [&](std::size_t i) {
                const double measured =
                    measurements_[trials[i].point].scenario->expectations.front().of;
                return std::log(simulate(trials[i].point, trials[i].x) / measured);
            },
            [&](std::size_t, double value) { values.push_back(value); }, [] { return false; });
        return values;
    }

    const Points& measurements_;
    std::vector<Unknown> unknowns_;
    Eigen::VectorXd start_;
    SimulatedTimes& times_;
    int jobs_;
    Watch* watch_;
};

struct Fit {
    std::vector<Unknown> unknowns;
    Eigen::VectorXd x;
    Eigen::VectorXd errors;     ///< of x
    Eigen::VectorXd from_pull;  ///< the part of what is known of x that is the pull to its start
};

const EfficiencyFactor& find_factor(const std::string& name) {
    std::vector<std::string_view> names;
    for (const EfficiencyFactor& factor : topology::efficiency_factors()) {
        if (factor.name == name) {
            return factor;
        }
        names.push_back(factor.name);
    }
    throw sim::unknown_name("factor", name, names);
}

std::set<std::string> chips_of(const Points& measurements) {
    std::set<std::string> chips;
    for (const Point& point : measurements) {
        chips.insert(chip_of(*point.scenario));
    }
    return chips;
}

/// The mean of a factor over the profiles of the measured chips: where a fit starts.
double start_of(const Points& measurements, const Unknown& unknown) {
    double sum = 0;
    int count = 0;
    for (const Point& point : measurements) {
        const Scenario& scenario = *point.scenario;
        if (unknown.chip.empty() || unknown.chip == chip_of(scenario)) {
            sum += scenario.hardware.efficiency.*(unknown.factor->value);
            ++count;
        }
    }
    return sum / count;
}

Fit fit(const Points& measurements, const CalibrationOptions& options, SimulatedTimes& times,
        Watch* watch) {
    Fit fit;
    for (const std::string& name : options.per_chip) {
        for (const std::string& chip : chips_of(measurements)) {
            fit.unknowns.push_back({&find_factor(name), chip});
        }
    }
    for (const std::string& name : options.pooled) {
        fit.unknowns.push_back({&find_factor(name), ""});
    }
    const auto count = static_cast<Eigen::Index>(fit.unknowns.size());
    fit.x.resize(count);
    for (Eigen::Index i = 0; i < count; ++i) {
        const Unknown& unknown = fit.unknowns[static_cast<std::size_t>(i)];
        fit.x[i] = to_free(*unknown.factor, start_of(measurements, unknown));
    }
    Residuals residuals(measurements, fit.unknowns, fit.x, times, options.jobs, watch);
    Eigen::LevenbergMarquardt<Residuals> solver(residuals);
    solver.setXtol(1e-3);
    solver.setFtol(1e-4);
    solver.setMaxfev(20);
    solver.minimize(fit.x);

    Eigen::MatrixXd jacobian(residuals.values(), residuals.inputs());
    residuals.df(fit.x, jacobian);
    Eigen::VectorXd rest(residuals.values());
    residuals(fit.x, rest);
    const auto points = static_cast<Eigen::Index>(measurements.size());
    const double freedom = std::max(1.0, static_cast<double>(points - count));
    const double variance = rest.head(points).squaredNorm() / freedom;
    const Eigen::VectorXd spread = (jacobian.transpose() * jacobian).inverse().diagonal();
    fit.errors = (spread * variance).cwiseSqrt();
    fit.from_pull = spread * (kPull * kPull);
    return fit;
}

FittedFactor report(const Unknown& unknown, double x, double error, double from_pull) {
    const EfficiencyFactor& factor = *unknown.factor;
    const double value = from_free(factor, x);
    const double spread = (from_free(factor, x + error) - from_free(factor, x - error)) / 2;
    return {std::string(factor.name), unknown.chip, value, spread, from_pull < kMostFromPull};
}

/// Fitted factors for a chip that the fit has not seen: pooled ones, and the means of the others' own.
Scenario held_out(const Scenario& scenario, const Fit& others) {
    struct Mean {
        double sum = 0;
        int count = 0;
    };
    std::map<const EfficiencyFactor*, Mean> means;
    for (std::size_t i = 0; i < others.unknowns.size(); ++i) {
        const EfficiencyFactor* const factor = others.unknowns[i].factor;
        Mean& mean = means[factor];
        mean.sum += from_free(*factor, others.x[static_cast<Eigen::Index>(i)]);
        ++mean.count;
    }
    Scenario predicted = scenario;
    for (const auto& [factor, mean] : means) {
        predicted.hardware.efficiency.*(factor->value) = mean.sum / mean.count;
    }
    return predicted;
}

}  // namespace

double simulated_reference(const Scenario& scenario, Watch* watch) {
    if (scenario.is_program()) {
        return simulate_program(scenario.hardware, scenario.program(), Fold::automatic, watch)
            .time.seconds();
    }
    const StepResult result =
        simulate_step(scenario, Fold::automatic, {.reuse = true, .explain = false, .watch = watch});
    return (scenario.step().evaluation.has_value() ? result.block : result.step_time).seconds();
}

Calibration calibrate(std::span<const Scenario> measurements, const CalibrationOptions& options,
                      Watch* watch) {
    for (const Scenario& scenario : measurements) {
        if (scenario.expectations.size() != 1 ||
            !scenario.expectations.front().quantity.ends_with("time")) {
            throw sim::InputError("a measurement is a scenario that expects one time",
                                  "write expect: {step_time: {of: 3.4 s, within: 20 %}}",
                                  {scenario.file, 0, 0});
        }
    }
    std::set<std::string> named;
    for (const auto* factors : {&options.per_chip, &options.pooled}) {
        for (const std::string& factor : *factors) {
            if (!named.insert(factor).second) {
                throw sim::InputError(fmt::format("factor '{}' is named twice", factor),
                                      "fit it for each chip or for all");
            }
        }
    }
    PhaseWatch calibrating(watch, Phase::calibrating);
    Points points;
    for (std::size_t i = 0; i < measurements.size(); ++i) {
        points.push_back({i, &measurements[i]});
    }
    SimulatedTimes times;
    const Fit all = fit(points, options, times, &calibrating);
    Calibration calibration;
    for (std::size_t i = 0; i < all.unknowns.size(); ++i) {
        const auto at = static_cast<Eigen::Index>(i);
        calibration.factors.push_back(
            report(all.unknowns[i], all.x[at], all.errors[at], all.from_pull[at]));
    }
    const Residuals fitted(points, all.unknowns, all.x, times, options.jobs, &calibrating);
    const std::set<std::string> chips = chips_of(points);
    std::map<std::string, Fit> without;
    for (const std::string& chip : chips) {
        Points others;
        std::ranges::copy_if(points, std::back_inserter(others),
                             [&](const Point& one) { return chip_of(*one.scenario) != chip; });
        if (!others.empty()) {
            without.emplace(chip, fit(others, options, times, &calibrating));
        }
    }
    run_in_order(
        0, measurements.size(), options.jobs,
        [&](std::size_t i) {
            const Scenario& scenario = measurements[i];
            const std::string chip = chip_of(scenario);
            const auto others = without.find(chip);
            CalibratedPoint point{scenario.name, chip, scenario.expectations.front().of,
                                  fitted.simulate(i, all.x), std::nullopt};
            if (others != without.end()) {
                point.held_out_s =
                    simulated_reference(held_out(scenario, others->second), &calibrating);
            }
            return point;
        },
        [&](std::size_t, CalibratedPoint point) { calibration.points.push_back(std::move(point)); },
        [] { return false; });
    return calibration;
}

ErrorSummary summarise(std::span<const double> relative_errors) {
    ErrorSummary summary;
    for (const double error : relative_errors) {
        const auto count = static_cast<double>(relative_errors.size());
        summary.mean_absolute += std::abs(error) / count;
        summary.bias += error / count;
        if (std::abs(error) > std::abs(summary.worst)) {
            summary.worst = error;
        }
    }
    return summary;
}

}  // namespace podsim::scenarios
