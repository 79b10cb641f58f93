#include "collectives/paths/tree_links.h"

#include <cstddef>

namespace podsim::collectives {
namespace {

/// Between the blocks of each factor, whose strides ascend: what a stride leaves of the blocks of those before. None is shorter than one
/// before it, and that which closes a ring, at least as long as the last, is left out.
std::vector<Gap> gaps_along(const Group& group, int axis) {
    std::vector<Gap> gaps;
    int span = 0;
    for (const topology::AxisFactor& factor : group) {
        if (factor.axis != axis || factor.length == 1) {
            continue;
        }
        for (Gap& gap : gaps) {
            gap.count *= factor.length;
        }
        const int links = factor.stride - span;
        if (gaps.empty() || gaps.back().links != links) {
            gaps.push_back({links, 0});
        }
        gaps.back().count += factor.length - 1;
        span += (factor.length - 1) * factor.stride;
    }
    return gaps;
}

}  // namespace

Gaps gaps_between(const Group& group) {
    Gaps gaps;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        gaps.at(static_cast<std::size_t>(axis)) = gaps_along(group, axis);
    }
    return gaps;
}

std::array<double, topology::kAxes> tree_links(const Gaps& gaps, const AxisWeights& weights) {
    std::array<double, topology::kAxes> parts{1, 1, 1};
    std::array<std::size_t, topology::kAxes> next{};
    for (std::size_t axis = 0; axis < gaps.size(); ++axis) {
        for (const Gap& gap : gaps[axis]) {
            parts[axis] += gap.count;
        }
    }
    std::array<double, topology::kAxes> links{};
    for (;;) {
        std::size_t lightest = gaps.size();
        double weight = 0;
        for (std::size_t axis = 0; axis < gaps.size(); ++axis) {
            if (next[axis] == gaps[axis].size()) {
                continue;
            }
            const double of_axis = weights[axis] * gaps[axis][next[axis]].links;
            if (lightest == gaps.size() || of_axis < weight) {
                lightest = axis;
                weight = of_axis;
            }
        }
        if (lightest == gaps.size()) {
            return links;
        }
        const Gap& joined = gaps[lightest][next[lightest]++];
        const double before = parts[0] * parts[1] * parts[2];
        parts[lightest] -= joined.count;
        links[lightest] += joined.links * (before - parts[0] * parts[1] * parts[2]);
    }
}

}  // namespace podsim::collectives
