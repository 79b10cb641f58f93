#include "topology/lattice/hosts.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <fmt/format.h>

#include "sim/base/error.h"
#include "topology/lattice/shape.h"

namespace podsim::topology {

Hosts::Hosts(const Lattice& slice, const Point& host_shape) {
    assert(host_shape[0] >= 1 && host_shape[1] >= 1 && host_shape[2] >= 1);
    std::array<std::size_t, kAxes> turn{0, 1, 2};
    int fewest = 0;
    do {
        Point box{};
        Point grid{};
        for (std::size_t axis = 0; axis < kAxes; ++axis) {
            box[axis] = std::min(host_shape[turn[axis]], slice.lengths[axis]);
            grid[axis] = (slice.lengths[axis] + box[axis] - 1) / box[axis];
        }
        const int hosts = grid[0] * grid[1] * grid[2];
        if (fewest == 0 || hosts < fewest) {
            fewest = hosts;
            box_ = box;
            grid_ = grid;
        }
    } while (std::ranges::next_permutation(turn).found);
}

int Hosts::host_of(const Point& chip) const {
    const auto at = [&](std::size_t axis) { return chip[axis] / box_[axis]; };
    return (at(0) * grid_[1] + at(1)) * grid_[2] + at(2);
}

void check_host(const Point& host_shape, const Point& pod_shape, int dimensions) {
    const auto chips = std::int64_t{host_shape[0]} * host_shape[1] * host_shape[2];
    if (chips > kMostHostChips) {
        throw sim::InputError(
            fmt::format("a host of {} has {} chips", to_string(host_shape, dimensions), chips),
            fmt::format("at most {} are allowed", kMostHostChips));
    }
    std::array<std::size_t, kAxes> turn{0, 1, 2};
    Point nearest{1, 1, 1};
    double least_ratio = 0;
    do {
        Point divisors{};
        double ratio = 1;  // product of the factors by which the lengths differ
        for (std::size_t axis = 0; axis < kAxes; ++axis) {
            const int wanted = host_shape[axis];
            const int length = pod_shape[turn[axis]];
            const auto off = [&](int divisor) {
                return divisor > wanted ? static_cast<double>(divisor) / wanted
                                        : static_cast<double>(wanted) / divisor;
            };
            divisors[axis] = 1;
            for (int divisor = 2; divisor <= length; ++divisor) {
                if (length % divisor == 0 && off(divisor) < off(divisors[axis])) {
                    divisors[axis] = divisor;
                }
            }
            ratio *= off(divisors[axis]);
        }
        if (least_ratio == 0 || ratio < least_ratio) {
            least_ratio = ratio;
            nearest = divisors;
        }
    } while (std::ranges::next_permutation(turn).found);
    if (nearest != host_shape) {
        throw sim::InputError(
            fmt::format("a host of {} chips does not divide the pod {}",
                        to_string(host_shape, dimensions), to_string(pod_shape, dimensions)),
            fmt::format("every length divides one of the pod's; nearest: {}",
                        to_string(nearest, dimensions)));
    }
}

}  // namespace podsim::topology
