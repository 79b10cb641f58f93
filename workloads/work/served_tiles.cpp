#include "workloads/work/served_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace podsim::workloads {
namespace {

constexpr double kNormalVariance = 9;

/// Returns P(X <= x) of a normal number.
double below(double x) {
    return std::erfc(-x / std::sqrt(2.0)) / 2;
}

/// Returns the mean of the largest of `ways` normal numbers.
double largest_normal(double ways) {
    constexpr double kStep = 1.0 / 64;
    constexpr double kFar = 8;
    double sum = 0;
    for (double x = kStep / 2; x < kFar; x += kStep) {
        sum += 1 - std::pow(below(x), ways) - std::pow(below(-x), ways);
    }
    return sum * kStep;
}

/// Returns the mean of the largest count, or of the smallest, of whole trials of which
/// few fall to a way.
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
    // If a count is likely to be large, the rest of the trials is small.
    return chance <= 0.5 ? of_binomial(ways, trials, chance, true)
                         : trials - of_binomial(ways, trials, 1 - chance, false);
}

constexpr double kRows = 128;
constexpr double kLanes = 128;
constexpr double kLeastColumns = 256;
constexpr double kBuffers = 3;
constexpr double kShareOfVmem = 0.9;

/// Returns a power by products alone, whose result is the same on any machine.
double power(double base, double exponent) {
    const double whole = std::floor(exponent);
    double result = 1 - (exponent - whole) * (1 - base);
    for (auto left = static_cast<std::uint64_t>(whole); left > 0; left /= 2) {
        result *= left % 2 == 1 ? base : 1;
        base *= base;
    }
    return result;
}

double faster(double bytes) {
    return std::min(std::ceil(2 / bytes), 2.0);
}

/// Returns the smallest number of equal fractions of `size` that are each below `most` bytes. No
/// fraction is smaller than `least`.
double parts_of(double bytes, double most, double size, double least) {
    const double fewest = most > 0 ? std::floor(bytes / most) + 1 : size;
    return std::clamp(fewest, 1.0, std::max(1.0, std::floor(size / least)));
}

double whole_lanes(double size, double parts) {
    return parts == 1 ? size : std::ceil(size / (parts * kLanes)) * kLanes;
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

double reached_groups(double tokens, double chance, double groups, double ways) {
    const double met = 1 - power(1 - std::min(chance, 1.0), tokens);
    return ways == 1 ? groups * met : fullest_of(ways, groups, met);
}

ExpertTile served_tile(double k, double n, const ServedOperands& operands) {
    const double of_matrices = operands.vmem * kShareOfVmem / kBuffers;
    const double bytes = k * n * operands.matrix;
    const double parts_of_n = parts_of(bytes, of_matrices, n, kLeastColumns);
    const double parts_of_k = parts_of(bytes / parts_of_n, of_matrices, k, kLanes);
    return {kRows * faster(operands.row) / faster(operands.matrix), whole_lanes(k, parts_of_k),
            whole_lanes(n, parts_of_n)};
}

GroupedTiles served_tiles(double rows, double groups, double k, double n, const ExpertTile& tile) {
    if (rows == 0) {
        return {};
    }
    const double m = std::min(tile.m, std::ceil(rows));
    const double tiles_of_k = std::ceil(k / tile.k);
    const double tiles_of_n = std::ceil(n / tile.n);
    GroupedTiles tiles;
    tiles.visits = groups * std::max(1.0, rows / (groups * m) + 0.5);
    tiles.computed_of_group = tiles.visits * m / groups;
    tiles.computed_k = tiles_of_k * std::min(tile.k, k);
    tiles.computed_n = tiles_of_n * std::min(tile.n, n);
    tiles.rows = rows * k * tiles_of_n;
    tiles.matrices = (tiles_of_k == 1 ? groups : tiles.visits) * k * n;
    tiles.results = rows * n;
    return tiles;
}

}  // namespace podsim::workloads
