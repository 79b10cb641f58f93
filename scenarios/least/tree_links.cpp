#include "scenarios/least/tree_links.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace podsim::scenarios {
namespace {

/// Where the members of a group lie along an axis, ascending from 0.
std::vector<int> places_along(const collectives::Group& group, int axis) {
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
std::vector<int> gaps(const topology::Lattice& slice, int axis, const std::vector<int>& places) {
    std::vector<int> gaps;
    for (std::size_t i = 1; i < places.size(); ++i) {
        gaps.push_back(places[i] - places[i - 1]);
    }
    if (slice.wraps(axis) && places.size() > 1) {
        gaps.push_back(slice.length(axis) - places.back());
        gaps.erase(std::ranges::max_element(gaps));
    }
    return gaps;
}

bool holds(unsigned axes_mask, int axis) {
    return (axes_mask >> static_cast<unsigned>(axis) & 1U) != 0;
}

/// The gaps of all axes.
using Gaps = std::array<std::vector<int>, topology::kAxes>;

double tree_along(const Gaps& gaps, unsigned axes_mask) {
    std::vector<std::pair<int, std::size_t>> shortest_first;  ///< with their axes
    std::array<double, topology::kAxes> parts{1, 1, 1};
    for (std::size_t axis = 0; axis < gaps.size(); ++axis) {
        if (holds(axes_mask, static_cast<int>(axis))) {
            for (const int gap : gaps[axis]) {
                shortest_first.emplace_back(gap, axis);
            }
            parts[axis] += static_cast<double>(gaps[axis].size());
        }
    }
    std::ranges::sort(shortest_first);
    double links = 0;
    for (const auto& [gap, axis] : shortest_first) {
        const double before = parts[0] * parts[1] * parts[2];
        --parts[axis];
        links += gap * (before - parts[0] * parts[1] * parts[2]);
    }
    return links;
}

}  // namespace

LinkCounts tree_links(const topology::Lattice& slice, const collectives::Group& group) {
    Gaps all;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        all[static_cast<std::size_t>(axis)] = gaps(slice, axis, places_along(group, axis));
    }
    LinkCounts links{};
    for (unsigned set = 1; set < links.size(); ++set) {
        links[set] = tree_along(all, set);
    }
    return links;
}

LinkCounts pair_links(const topology::Lattice& slice, const collectives::Group& group) {
    LinkCounts links{};
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        const std::vector<int> places = places_along(group, axis);
        double sum = 0;
        for (const int from : places) {
            for (const int to : places) {
                const int apart = std::abs(from - to);
                sum += slice.wraps(axis) ? std::min(apart, slice.length(axis) - apart) : apart;
            }
        }
        const auto count = static_cast<double>(places.size());
        for (unsigned set = 1; set < links.size(); ++set) {
            links[set] += holds(set, axis) ? sum / (count * count) : 0;
        }
    }
    return links;
}

}  // namespace podsim::scenarios
