#include "topology/hosts.h"

#include <algorithm>
#include <cassert>

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

}  // namespace podsim::topology
