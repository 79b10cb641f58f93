#include "topology/mesh/fold.h"

#include <algorithm>
#include <numeric>

namespace podsim::topology {
namespace {

bool covers(const std::vector<AxisFactor>& group, const Lattice& slice) {
    int members = 1;
    for (const AxisFactor& factor : group) {
        members *= factor.length;
    }
    return members == slice.size();
}

/// Returns one host, repeated: an axis that whole hosts do not fill keeps its length.
Lattice one_host(const Lattice& slice, const Point& host_box) {
    Lattice folded{.lengths = host_box, .wrapped = {true, true, true}, .wrap_shift = {}};
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        if (slice.lengths[axis] % host_box[axis] != 0) {
            folded.lengths[axis] = slice.lengths[axis];
            folded.wrapped[axis] = slice.wrapped[axis];
        }
    }
    return folded;
}

/// True if every route round a twisted axis leads to the same position in a host.
bool keeps_places(const Lattice& slice, const Lattice& host) {
    return std::ranges::all_of(slice.wrap_shift, [&](const Point& shift) {
        return shift[0] % host.lengths[0] == 0 && shift[1] % host.lengths[1] == 0 &&
               shift[2] % host.lengths[2] == 0;
    });
}

}  // namespace

Lattice fold(const Lattice& slice, std::span<const std::vector<AxisFactor>> groups,
             const Point& host_box, unsigned kept_axes, std::span<const AxisFactor> unlike) {
    Lattice folded = one_host(slice, host_box);
    if (slice.twisted()) {
        const bool whole = std::ranges::all_of(
            groups, [&](const auto& group) { return group.empty() || covers(group, slice); });
        return whole && kept_axes == 0 && unlike.empty() && keeps_places(slice, folded) ? folded
                                                                                        : slice;
    }
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        if ((kept_axes >> axis & 1U) != 0) {
            folded.lengths[axis] = slice.lengths[axis];
            folded.wrapped[axis] = slice.wrapped[axis];
        }
    }
    const auto keep = [&](const AxisFactor& factor, bool rotates) {
        const auto axis = static_cast<std::size_t>(factor.axis);
        const int span = factor.stride * factor.length;
        if (factor.length == 1) {
            return;
        }
        if (!slice.wrapped[axis]) {
            folded.lengths[axis] = slice.lengths[axis];
            folded.wrapped[axis] = false;
        } else if (span != slice.lengths[axis] || !rotates) {
            folded.lengths[axis] = std::lcm(folded.lengths[axis], span);
        }
    };
    for (const std::vector<AxisFactor>& group : groups) {
        for (const AxisFactor& factor : group) {
            keep(factor, true);
        }
    }
    for (const AxisFactor& factor : unlike) {
        keep(factor, false);
    }
    return folded;
}

}  // namespace podsim::topology
