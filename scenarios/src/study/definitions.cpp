#include "scenarios/src/study/definitions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "scenarios/src/study/priors.h"

namespace podsim::scenarios {
namespace {

// A microbenchmark determines the factor that it isolates to about a per cent: nothing of the prior
// is left.
constexpr double kNoise = 0.01;

}  // namespace

std::vector<DefinedFactor> define_factors(std::span<const Measurement> measurements,
                                          std::span<const std::string> fitted, ChipFactors& others,
                                          SimulatedTimes& times) {
    std::map<std::string, std::vector<Measurement>> by_chip;
    for (const Measurement& measurement : measurements) {
        if (!measurement.defines.empty() &&
            std::ranges::find(fitted, measurement.defines) == fitted.end()) {
            by_chip[measurement.chip].push_back(measurement);
        }
    }
    std::vector<DefinedFactor> defined;
    for (auto& [chip, rows] : by_chip) {
        std::set<std::string> names;
        for (const Measurement& row : rows) {
            names.insert(row.defines);
        }
        FitProblem problem{.measurements = rows, .unknowns = {}, .others = others, .noise = kNoise};
        for (const std::string& name : names) {
            problem.unknowns.push_back({&find_factor(name), chip});
        }
        if (names.contains("mxu_ramp") && !names.contains("mxu")) {
            problem.unknowns.push_back({&find_factor("mxu"), chip});
        }
        const Fit fit = fit_factors(
            problem, Eigen::VectorXd::Zero(static_cast<Eigen::Index>(problem.unknowns.size())),
            times);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const topology::EfficiencyFactor* const factor = problem.unknowns[i].factor;
            defined.push_back(
                {factor, chip, from_deviations(*factor, fit.u[static_cast<Eigen::Index>(i)])});
        }
    }
    std::map<const topology::EfficiencyFactor*, std::pair<double, int>> sums;
    for (const DefinedFactor& one : defined) {
        sums[one.factor].first += to_deviations(*one.factor, one.value);
        ++sums[one.factor].second;
    }
    for (auto& [chip, efficiency] : others) {
        for (const auto& [factor, sum] : sums) {
            efficiency.*(factor->value) = from_deviations(*factor, sum.first / sum.second);
        }
        for (const DefinedFactor& one : defined) {
            if (one.chip == chip) {
                efficiency.*(one.factor->value) = one.value;
            }
        }
    }
    return defined;
}

}  // namespace podsim::scenarios
