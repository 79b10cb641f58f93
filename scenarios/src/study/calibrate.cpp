#include "scenarios/src/study/calibrate.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

#include "scenarios/src/study/band.h"
#include "scenarios/src/study/definitions.h"
#include "scenarios/src/study/fit.h"
#include "scenarios/src/study/priors.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Measurements = std::vector<Measurement>;

constexpr double kAtLimit = 1e-9;      // deviations of a prior
constexpr double kMostOfPrior = 0.25;  // largest variance left of a determined factor's prior

/// Throws if a factor is unknown or named twice.
void check_factors(const CalibrationOptions& options) {
    std::set<std::string> named;
    for (const auto* factors : {&options.per_chip, &options.pooled}) {
        for (const std::string& factor : *factors) {
            static_cast<void>(find_factor(factor));
            if (!named.insert(factor).second) {
                throw sim::InputError(fmt::format("factor '{}' is named twice", factor),
                                      "fit it for each chip or for all");
            }
        }
    }
}

Measurements steps_of(const Measurements& measurements) {
    Measurements steps;
    std::ranges::copy_if(measurements, std::back_inserter(steps),
                         [](const Measurement& one) { return one.what == Measured::step; });
    return steps;
}

std::set<std::string> chips_of(const Measurements& measurements) {
    std::set<std::string> chips;
    for (const Measurement& measurement : measurements) {
        chips.insert(measurement.chip);
    }
    return chips;
}

/// Returns the factors to fit. A factor that a microbenchmark has defined for a chip is not fitted
/// for that chip.
std::vector<Unknown> unknowns_of(const Measurements& steps, const CalibrationOptions& options,
                                 std::span<const DefinedFactor> defined) {
    std::vector<Unknown> unknowns;
    for (const std::string& name : options.per_chip) {
        for (const std::string& chip : chips_of(steps)) {
            const bool known = std::ranges::any_of(defined, [&](const DefinedFactor& one) {
                return one.chip == chip && one.factor == &find_factor(name);
            });
            if (!known) {
                unknowns.push_back({&find_factor(name), chip});
            }
        }
    }
    for (const std::string& name : options.pooled) {
        unknowns.push_back({&find_factor(name), ""});
    }
    return unknowns;
}

/// A fit of the factors that the steps determine. The others are fixed at their priors, and the fit
/// is repeated.
struct DeterminedFit {
    Fit fit;
    std::vector<Unknown> at_prior;
};

DeterminedFit fit_determined(FitProblem problem, const VectorXd& start, SimulatedTimes& times) {
    DeterminedFit result{.fit = fit_factors(problem, start, times), .at_prior = {}};
    for (;;) {
        std::vector<Unknown> open;
        std::vector<double> from;
        for (std::size_t i = 0; i < problem.unknowns.size(); ++i) {
            const Unknown& unknown = problem.unknowns[i];
            const auto at = static_cast<Index>(i);
            if (result.fit.variance[at] < kMostOfPrior) {
                open.push_back(unknown);
                from.push_back(result.fit.u[at]);
                continue;
            }
            result.at_prior.push_back(unknown);
            for (auto& [chip, efficiency] : problem.others) {
                if (unknown.chip.empty() || unknown.chip == chip) {
                    efficiency.*(unknown.factor->value) = from_deviations(*unknown.factor, 0);
                }
            }
        }
        if (open.size() == problem.unknowns.size()) {
            return result;
        }
        problem.unknowns = open;
        result.fit = fit_factors(
            problem, Eigen::Map<VectorXd>(from.data(), static_cast<Index>(from.size())), times);
    }
}

/// Returns the scenarios' own profile, in deviations from the priors.
VectorXd own_profile(const FitProblem& problem) {
    VectorXd start(static_cast<Index>(problem.unknowns.size()));
    for (std::size_t i = 0; i < problem.unknowns.size(); ++i) {
        const Unknown& unknown = problem.unknowns[i];
        double sum = 0;
        int count = 0;
        for (const Measurement& measurement : problem.measurements) {
            if (unknown.chip.empty() || unknown.chip == measurement.chip) {
                sum += to_deviations(*unknown.factor, measurement.scenario->hardware.efficiency.*
                                                          (unknown.factor->value));
                ++count;
            }
        }
        start[static_cast<Index>(i)] = sum / count;
    }
    return start;
}

/// Sets a factor of a chip without a fitted step to the mean of the others'.
void take_mean_of_others(const FitProblem& problem, const std::set<std::string>& without,
                         VectorXd& u) {
    std::map<const topology::EfficiencyFactor*, std::pair<double, int>> sums;
    for (std::size_t i = 0; i < problem.unknowns.size(); ++i) {
        const Unknown& unknown = problem.unknowns[i];
        if (!unknown.chip.empty() && !without.contains(unknown.chip)) {
            sums[unknown.factor].first += u[static_cast<Index>(i)];
            ++sums[unknown.factor].second;
        }
    }
    for (std::size_t i = 0; i < problem.unknowns.size(); ++i) {
        const Unknown& unknown = problem.unknowns[i];
        if (without.contains(unknown.chip) && sums[unknown.factor].second > 0) {
            u[static_cast<Index>(i)] = sums[unknown.factor].first / sums[unknown.factor].second;
        }
    }
}

/// Predicts every step without the steps that share its `group` (chip or family); none if no step
/// is left.
template <class Group>
std::vector<std::optional<double>> held_out(const Fit& fit, Group group, SimulatedTimes& times) {
    const Measurements& steps = fit.problem.measurements;
    std::set<std::string> groups;
    for (const Measurement& step : steps) {
        groups.insert(group(step));
    }
    std::vector<std::optional<double>> predicted(steps.size());
    if (groups.size() < 2) {
        return predicted;
    }
    std::vector<FitTrial> trials;
    std::vector<std::size_t> places;
    for (const std::string& one : groups) {
        std::vector<bool> left_out;
        std::set<std::string> unseen = chips_of(steps);
        for (const Measurement& step : steps) {
            left_out.push_back(group(step) == one);
            if (!left_out.back()) {
                unseen.erase(step.chip);
            }
        }
        VectorXd u = refit_without(fit, left_out);
        take_mean_of_others(fit.problem, unseen, u);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (left_out[i]) {
                trials.push_back({&steps[i], efficiency_at(fit.problem, steps[i].chip, u)});
                places.push_back(i);
            }
        }
    }
    const std::vector<double> simulated = times.of(trials);
    for (std::size_t i = 0; i < places.size(); ++i) {
        predicted[places[i]] = simulated[i];
    }
    return predicted;
}

Predictions rule_predictions(RuleKey key, const Measurements& steps, const Measurement& step) {
    Measurements other_chips;
    Measurements other_families;
    for (const Measurement& one : steps) {
        if (one.chip != step.chip) {
            other_chips.push_back(one);
        }
        if (one.family != step.family) {
            other_families.push_back(one);
        }
    }
    return {*rule_time(key, steps, step), rule_time(key, other_chips, step),
            rule_time(key, other_families, step)};
}

std::vector<FittedFactor> factors_of(const DeterminedFit& result, const FitProblem& asked,
                                     const std::vector<DefinedFactor>& defined,
                                     const VectorXd& other) {
    std::vector<FittedFactor> factors;
    for (const Unknown& unknown : asked.unknowns) {
        const topology::EfficiencyFactor& factor = *unknown.factor;
        FittedFactor row{.factor = std::string(factor.name),
                         .chip = unknown.chip,
                         .prior = prior_of(factor.name).value,
                         .by = {},
                         .other_start = {}};
        const auto& open = result.fit.problem.unknowns;
        const auto at = std::ranges::find(open, unknown) - open.begin();
        if (at == static_cast<std::ptrdiff_t>(open.size())) {
            row.value = row.prior;
            row.by = "prior";
            row.error = (from_deviations(factor, 1) - from_deviations(factor, -1)) / 2;
        } else {
            const double deviation = std::sqrt(result.fit.variance[at]);
            row.value = from_deviations(factor, result.fit.u[at]);
            row.error = (from_deviations(factor, result.fit.u[at] + deviation) -
                         from_deviations(factor, result.fit.u[at] - deviation)) /
                        2;
            row.by = "steps";
            row.determined = true;
            row.at_limit =
                std::abs(result.fit.u[at] - to_deviations(factor, factor.least)) < kAtLimit ||
                std::abs(result.fit.u[at] - to_deviations(factor, factor.most)) < kAtLimit;
            row.other_start = from_deviations(factor, other[at]);
        }
        factors.push_back(row);
    }
    for (const DefinedFactor& one : defined) {
        factors.push_back({.factor = std::string(one.factor->name),
                           .chip = one.chip,
                           .value = one.value,
                           .prior = prior_of(one.factor->name).value,
                           .by = "microbenchmarks",
                           .determined = true,
                           .other_start = {}});
    }
    return factors;
}

std::vector<CalibratedPoint> points_of(const Measurements& measurements) {
    std::vector<CalibratedPoint> points;
    for (const Measurement& one : measurements) {
        points.push_back({.name = one.scenario->name,
                          .chip = one.chip,
                          .family = one.family,
                          .tier = one.scenario->expectations.front().tier,
                          .what = one.what,
                          .kind = one.kind,
                          .d_model = one.d_model,
                          .defines = one.defines,
                          .measured_s = one.measured_s,
                          .podsim = {},
                          .per_chip = {},
                          .per_chip_and_precision = {}});
    }
    return points;
}

/// Fills in the held-out results: pairs, band and its coverage.
void judge(const Measurements& measurements, Calibration& calibration) {
    const auto held_out = [&](Predictions CalibratedPoint::*method) {
        std::vector<double> predicted;
        for (const CalibratedPoint& point : calibration.points) {
            predicted.push_back((point.*method).without_family_s.value_or(0));
        }
        return predicted;
    };
    const auto pairs = [&](Predictions CalibratedPoint::*method) {
        return pair_order(measurements, held_out(method));
    };
    calibration.ratios = ratio_errors(measurements, held_out(&CalibratedPoint::podsim));
    calibration.pairs = pairs(&CalibratedPoint::podsim);
    calibration.pairs_per_chip = pairs(&CalibratedPoint::per_chip);
    calibration.pairs_per_chip_and_precision = pairs(&CalibratedPoint::per_chip_and_precision);
    std::vector<HeldOutError> errors;
    for (const CalibratedPoint& point : calibration.points) {
        if (point.what == Measured::step && point.podsim.without_family_s.has_value()) {
            errors.push_back({point.kind, point.d_model, point.family,
                              *point.podsim.without_family_s / point.measured_s - 1});
        }
    }
    calibration.profile.band = error_band(errors);
    calibration.covered = coverage(calibration.profile.band, errors);
}

}  // namespace

std::optional<double> rule_time(RuleKey key, std::span<const Measurement> known,
                                const Measurement& step) {
    const auto at_peak = [&](const Measurement& one) {
        return one.work / (key == RuleKey::chip ? one.bf16_peak : one.matmul_peak);
    };
    const auto mean = [&](auto&& alike) -> std::optional<double> {
        double sum = 0;
        int count = 0;
        for (const Measurement& one : known) {
            if (one.what == Measured::step && alike(one)) {
                sum += std::log(at_peak(one) / one.measured_s);
                ++count;
            }
        }
        return count > 0 ? std::optional(sum / count) : std::nullopt;
    };
    const auto same_chip = [&](const Measurement& one) { return one.chip == step.chip; };
    const auto same_matmuls = [&](const Measurement& one) {
        return one.kind.quantised == step.kind.quantised;
    };
    std::optional<double> share;
    if (key == RuleKey::chip_and_precision) {
        share = mean([&](const Measurement& one) { return same_chip(one) && same_matmuls(one); });
    }
    if (!share) {
        share = mean(same_chip);
    }
    if (!share && key == RuleKey::chip_and_precision) {
        share = mean(same_matmuls);
    }
    if (!share) {
        share = mean([](const Measurement&) { return true; });
    }
    return share ? std::optional(at_peak(step) / std::exp(*share)) : std::nullopt;
}

Calibration calibrate(std::span<const Scenario> scenarios, const CalibrationOptions& options,
                      Watch* watch) {
    const Measurements measurements = measurements_of(scenarios, options.inference);
    if (measurements.empty()) {
        throw options.inference ? sim::InputError("no scenario is a step of inference",
                                                  "name some, or leave out --inference")
                                : sim::InputError("all scenarios are steps of inference",
                                                  "write --inference, which fits to them");
    }
    check_factors(options);
    PhaseWatch calibrating(watch, Phase::calibrating);
    SimulatedTimes times(options.jobs, &calibrating);
    FitProblem problem{.measurements = steps_of(measurements), .unknowns = {}, .others = {}};
    for (const Measurement& one : measurements) {
        problem.others[one.chip] = one.scenario->hardware.efficiency;
    }
    const std::vector<DefinedFactor> defined =
        define_factors(measurements, options.pooled, problem.others, times);
    problem.unknowns = unknowns_of(problem.measurements, options, defined);
    const auto count = static_cast<Index>(problem.unknowns.size());
    const DeterminedFit result = fit_determined(problem, VectorXd::Zero(count), times);
    const Fit& fit = result.fit;
    const Fit again = fit_factors(fit.problem, own_profile(fit.problem), times);

    Calibration calibration;
    calibration.inference = options.inference;
    calibration.left_out = scenarios.size() - measurements.size();
    calibration.converged = fit.converged && again.converged;
    calibration.factors = factors_of(result, problem, defined, again.u);
    calibration.points = points_of(measurements);
    const auto without_chip = held_out(
        fit, [](const Measurement& m) { return m.chip; }, times);
    const auto without_family = held_out(
        fit, [](const Measurement& m) { return m.family; }, times);
    for (std::size_t i = 0; i < fit.problem.measurements.size(); ++i) {
        const Measurement& step = fit.problem.measurements[i];
        CalibratedPoint& point = calibration.points[step.number];
        const double fitted = step.measured_s * std::exp(fit.rest[static_cast<Index>(i)]);
        point.podsim = {fitted, without_chip[i], without_family[i]};
        point.per_chip = rule_predictions(RuleKey::chip, fit.problem.measurements, step);
        point.per_chip_and_precision =
            rule_predictions(RuleKey::chip_and_precision, fit.problem.measurements, step);
    }
    for (const Measurement& one : measurements) {
        calibration.profile.chips[one.chip] = efficiency_at(fit.problem, one.chip, fit.u);
        if (one.what != Measured::step) {
            calibration.points[one.number].podsim.fitted_s =
                times.of({&one, calibration.profile.chips[one.chip]});
        }
    }
    judge(measurements, calibration);
    return calibration;
}

}  // namespace podsim::scenarios
