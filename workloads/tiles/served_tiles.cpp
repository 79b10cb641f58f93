#include "workloads/tiles/served_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "workloads/tiles/fullest_way.h"

namespace podsim::workloads {
namespace {

constexpr double kRows = 128;
constexpr double kLanes = 128;
constexpr double kLeastColumns = 256;
constexpr double kBuffers = 3;
constexpr double kShareOfVmem = 0.9;

/// By products alone, whose result is the same on any machine.
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

/// The least number of equal parts of which one is below `most`; no part is smaller than `least` of `size`.
double parts_of(double bytes, double most, double size, double least) {
    const double fewest = most > 0 ? std::floor(bytes / most) + 1 : size;
    return std::clamp(fewest, 1.0, std::max(1.0, std::floor(size / least)));
}

double whole_lanes(double size, double parts) {
    return parts == 1 ? size : std::ceil(size / (parts * kLanes)) * kLanes;
}

}  // namespace

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
