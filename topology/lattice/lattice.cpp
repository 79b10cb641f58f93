#include "topology/lattice/lattice.h"

namespace podsim::topology {

std::optional<Point> Lattice::canonical(Point p) const {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        const int length = lengths[axis];
        if (p[axis] >= 0 && p[axis] < length) {
            continue;
        }
        if (!wrapped[axis]) {
            return std::nullopt;
        }
        int turns = p[axis] / length;
        if (p[axis] % length < 0) {
            --turns;
        }
        p[axis] -= turns * length;
        p = p + wrap_shift[axis] * turns;
    }
    return p;
}

}  // namespace podsim::topology
