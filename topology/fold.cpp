#include "topology/fold.h"

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

}  // namespace

Lattice fold(const Lattice& slice, std::span<const std::vector<AxisFactor>> groups) {
    if (slice.twisted()) {
        const bool whole = std::ranges::all_of(
            groups, [&](const auto& group) { return group.empty() || covers(group, slice); });
        return whole
                   ? Lattice{.lengths = {1, 1, 1}, .wrapped = {true, true, true}, .wrap_shift = {}}
                   : slice;
    }
    Lattice folded{.lengths = {1, 1, 1}, .wrapped = {true, true, true}, .wrap_shift = {}};
    for (const std::vector<AxisFactor>& group : groups) {
        for (const AxisFactor& factor : group) {
            const auto axis = static_cast<std::size_t>(factor.axis);
            const int span = factor.stride * factor.length;
            if (factor.length == 1) {
                continue;
            }
            if (!slice.wrapped[axis]) {
                folded.lengths[axis] = slice.lengths[axis];
                folded.wrapped[axis] = false;
            } else if (span != slice.lengths[axis]) {
                folded.lengths[axis] = std::lcm(folded.lengths[axis], span);
            }
        }
    }
    return folded;
}

}  // namespace podsim::topology
