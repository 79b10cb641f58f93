#include "workloads/tiles/fullest_way.h"

#include <algorithm>
#include <cmath>

namespace podsim::workloads {
namespace {

constexpr double kNormalVariance = 9;

/// P(X <= x) of a normal number.
double below(double x) {
    return std::erfc(-x / std::sqrt(2.0)) / 2;
}

/// The mean of the largest of so many normal numbers.
double largest_normal(double ways) {
    constexpr double kStep = 1.0 / 64;
    constexpr double kFar = 8;
    double sum = 0;
    for (double x = kStep / 2; x < kFar; x += kStep) {
        sum += 1 - std::pow(below(x), ways) - std::pow(below(-x), ways);
    }
    return sum * kStep;
}

/// Of whole trials, of which few fall to a way: the mean of the largest count, or of the smallest.
double of_binomial(double ways, double trials, double chance, bool largest) {
    double mass = std::pow(1 - chance, trials);
    double less = 0;  // P(count < j)
    double mean = 0;
    for (double j = 1; j <= trials; ++j) {
        less += mass;
        mass *= (trials - j + 1) / j * chance / (1 - chance);
        mean += largest ? 1 - std::pow(std::min(less, 1.0), ways)
                        : std::pow(std::max(1 - less, 0.0), ways);
    }
    return mean;
}

double of_whole(double ways, double trials, double chance) {
    const double mean = trials * chance;
    const double variance = mean * (1 - chance);
    if (variance >= kNormalVariance) {
        return std::min(mean + largest_normal(ways) * std::sqrt(variance), trials);
    }
    // Of a count that is likely, what is left of the trials is small.
    return chance <= 0.5 ? of_binomial(ways, trials, chance, true)
                         : trials - of_binomial(ways, trials, 1 - chance, false);
}

}  // namespace

double fullest_of(double ways, double trials, double chance) {
    if (ways <= 1 || chance <= 0 || chance >= 1) {
        return trials * std::clamp(chance, 0.0, 1.0);
    }
    const double whole = std::floor(trials);
    const double at = of_whole(ways, whole, chance);
    const double part = trials - whole;
    return part == 0 ? at : at + part * (of_whole(ways, whole + 1, chance) - at);
}

}  // namespace podsim::workloads
