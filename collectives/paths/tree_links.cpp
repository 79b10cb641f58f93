#include "collectives/paths/tree_links.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace podsim::collectives {
namespace {

/// Where the members of a group lie along an axis, ascending from 0.
std::vector<int> places_along(const Group& group, int axis) {
    std::vector<int> places{0};
    for (const topology::AxisFactor& factor : group) {
        if (factor.axis != axis) {
            continue;
        }
        std::vector<int> all;
        for (const int place : places) {
            for (int i = 0; i < factor.length; ++i) {
                all.push_back(place + i * factor.stride);
            }
        }
        places = std::move(all);
    }
    std::ranges::sort(places);
    return places;
}

/// Between neighbours; of a ring all but the longest.
std::vector<Gap> gaps_along(const topology::Lattice& slice, const Group& group, int axis) {
    const std::vector<int> places = places_along(group, axis);
    std::vector<int> links;
    for (std::size_t i = 1; i < places.size(); ++i) {
        links.push_back(places[i] - places[i - 1]);
    }
    if (slice.wraps(axis) && places.size() > 1) {
        links.push_back(slice.length(axis) - places.back());
        links.erase(std::ranges::max_element(links));
    }
    std::ranges::sort(links);
    std::vector<Gap> gaps;
    for (const int length : links) {
        if (gaps.empty() || gaps.back().links != length) {
            gaps.push_back({length, 0});
        }
        ++gaps.back().count;
    }
    return gaps;
}

}  // namespace

Gaps gaps_between(const topology::Lattice& slice, const Group& group) {
    Gaps gaps;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        gaps.at(static_cast<std::size_t>(axis)) = gaps_along(slice, group, axis);
    }
    return gaps;
}

double tree_links(const Gaps& gaps, const AxisWeights& weights) {
    std::array<double, topology::kAxes> parts{1, 1, 1};
    std::array<std::size_t, topology::kAxes> next{};
    for (std::size_t axis = 0; axis < gaps.size(); ++axis) {
        for (const Gap& gap : gaps.at(axis)) {
            parts.at(axis) += gap.count;
        }
    }
    double links = 0;
    for (;;) {
        std::size_t lightest = gaps.size();
        double weight = 0;
        for (std::size_t axis = 0; axis < gaps.size(); ++axis) {
            if (next.at(axis) == gaps.at(axis).size()) {
                continue;
            }
            const double of_axis = weights.at(axis) * gaps.at(axis)[next.at(axis)].links;
            if (lightest == gaps.size() || of_axis < weight) {
                lightest = axis;
                weight = of_axis;
            }
        }
        if (lightest == gaps.size()) {
            return links;
        }
        const double before = parts[0] * parts[1] * parts[2];
        parts.at(lightest) -= gaps.at(lightest)[next.at(lightest)++].count;
        links += weight * (before - parts[0] * parts[1] * parts[2]);
    }
}

}  // namespace podsim::collectives
